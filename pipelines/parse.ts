/** Reading a pipeline's file: all that is wrong with it at once, each thing where it stands. */
import { LineCounter } from 'yaml';
import { assemble } from './assemble.js';
import { checkFile } from './check.js';
import { reportGaps } from './gaps.js';
import { reportIssues } from './issues.js';
import { TOOL_NAME } from './names.js';
import type { Pipeline } from './pipeline.js';
import { formatKeyPath, type Problem, type Report } from './problems.js';
import { pipelineFile } from './schema.js';
import { at, isMap } from './values.js';
import { MAX_FILE_BYTES } from './yaml-data.js';
import { readYaml } from './yaml.js';

export { formatProblem, type Problem } from './problems.js';

/** Most problems that are told of one file. */
const MAX_PROBLEMS = 100;

export interface ParsedPipeline {
  /** Only when nothing is wrong. */
  pipeline?: Pipeline;
  /** In the order of the file. */
  problems: Problem[];
  /** What the pipeline's documentation lacks, where it belongs; it runs without. None when anything is wrong. */
  gaps: Problem[];
}

/**
 * Parses and checks a pipeline.
 *
 * @param text the file's text, or its bytes, which have to be UTF-8
 * @param path what the file is called in problems; its last part gives the tool's name when the file has none
 */
export function parsePipeline(text: string | Uint8Array, path: string): ParsedPipeline {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength;
  if (bytes > MAX_FILE_BYTES) return wrong(tooLarge(path, bytes));
  try {
    return parseText(
      typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text),
      path,
    );
  } catch (error) {
    // The decoder's own; it isn't an instance of this realm's TypeError.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    return wrong(problemAtTop(path, 'expected text in UTF-8; got other bytes'));
  }
}

function parseText(text: string, path: string): ParsedPipeline {
  const lines = new LineCounter();
  const found = new FoundProblems(path, lines);
  const data = readYaml(text, lines, (offset, message) => found.add(offset, message));
  if (!data) return wrong(...found.sorted());
  const report: Report = (keyPath, message, place = 'value') => {
    const offset = data.offsetOf(keyPath, place);
    if (data.isExpression(offset)) return;
    found.add(offset, () => {
      const prefix = formatKeyPath(keyPath);
      return `${prefix ? `${prefix}: ` : ''}${typeof message === 'string' ? message : message()}`;
    });
  };
  const parsed = pipelineFile.safeParse(data.value);
  if (!parsed.success) reportIssues(data.value, parsed.error.issues, report);
  checkFile(data.value, report);
  const fileName = toolNameOf(path);
  if (isMap(data.value) && at(data.value, 'name') === undefined && !TOOL_NAME.test(fileName))
    report(
      ['name'],
      `missing; the file's name can't be a tool's: expected a letter, then letters, digits or _`,
    );
  const problems = found.sorted();
  if (!parsed.success || problems.length > 0) return wrong(...problems);
  const pipeline = assemble(parsed.data, parsed.data.name ?? fileName, (keyPath) => data.sourceOf(keyPath));
  const gaps = new FoundProblems(path, lines);
  reportGaps(data.value, pipeline, (keyPath, message) =>
    gaps.add(data.offsetOf(keyPath, 'key'), `${formatKeyPath(keyPath)}: ${message}`),
  );
  return { pipeline, problems, gaps: gaps.sorted() };
}

/** A file that can't be used. */
export function wrong(...problems: Problem[]): ParsedPipeline {
  return { problems, gaps: [] };
}

/** `deploy_site` for `pipelines/deploy-site.yml`. */
function toolNameOf(path: string): string {
  const file = path.split(/[/\\]/).at(-1) ?? '';
  return file.replace(/\.(yml|yaml)$/i, '').replaceAll('-', '_');
}

/** The problem of a file that is too large. */
export function tooLarge(path: string, bytes: number): Problem {
  return problemAtTop(path, `expected at most 1 MiB; got ${bytes} bytes`);
}

/** A problem of the file as a whole. */
export function problemAtTop(path: string, message: string): Problem {
  return { path, line: 1, column: 1, message };
}

class FoundProblems {
  readonly #problems: { offset: number; message: string }[] = [];
  #more = 0;

  constructor(
    private readonly path: string,
    private readonly lines: LineCounter,
  ) {}

  /** Messages may be costly to make: those that are too many aren't made. */
  add(offset: number, message: string | (() => string)): void {
    if (this.#problems.length >= MAX_PROBLEMS) this.#more += 1;
    else this.#problems.push({ offset, message: typeof message === 'string' ? message : message() });
  }

  sorted(): Problem[] {
    const problems = this.#problems.toSorted((one, other) => one.offset - other.offset);
    if (this.#more > 0)
      problems.push({ offset: problems.at(-1)!.offset, message: `${this.#more} more problems` });
    return problems.map(({ offset, message }) => {
      const { line, col } = this.lines.linePos(offset);
      return { path: this.path, line: Math.max(line, 1), column: Math.max(col, 1), message };
    });
  }
}
