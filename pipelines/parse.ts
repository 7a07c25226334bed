/** Parses and checks a pipeline's file, and reports all problems with their places. */
import { LineCounter } from 'yaml';
import { assemble } from './assemble.js';
import { checkFile } from './check.js';
import { reportGaps } from './documentation-gaps.js';
import { reportIssues } from './issues.js';
import { TOOL_NAME } from './names.js';
import type { Pipeline } from './pipeline.js';
import { formatKeyPath, type Problem, type Report } from './problems.js';
import { pipelineFile } from './schema.js';
import { at, isMap } from './values.js';
import { MAX_FILE_BYTES } from './yaml-data.js';
import { readYaml } from './yaml.js';

export { formatProblem, type Problem } from './problems.js';

/** Maximum number of problems reported for one file. */
const MAX_PROBLEMS = 100;

export interface ParsedPipeline {
  /** Missing if there are problems. */
  pipeline?: Pipeline;
  /** In the order of the file. */
  problems: Problem[];
  /** Gaps in the pipeline's documentation, which don't prevent a run. Empty if there are problems. */
  gaps: Problem[];
}

/**
 * Parses and checks a pipeline.
 *
 * @param text the file's text, or its bytes, which have to be UTF-8
 * @param path name of the file in problems; its last part is the default of the tool's name
 */
export function parsePipeline(text: string | Uint8Array, path: string): ParsedPipeline {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength;
  if (bytes > MAX_FILE_BYTES) return invalidFile(tooLarge(path, bytes));
  try {
    return parseText(
      typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text),
      path,
    );
  } catch (error) {
    // Not `instanceof TypeError`: the decoder's error may come from another realm.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    return invalidFile(problemAtTop(path, 'expected text in UTF-8; got other bytes'));
  }
}

function parseText(text: string, path: string): ParsedPipeline {
  const lines = new LineCounter();
  const found = new FoundProblems(path, lines);
  const data = readYaml(text, lines, (offset, message) => found.add(offset, message));
  if (!data) return invalidFile(...found.sorted());
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
  if (!parsed.success || problems.length > 0) return invalidFile(...problems);
  const pipeline = assemble(parsed.data, parsed.data.name ?? fileName, (keyPath) => data.sourceOf(keyPath));
  const gaps = new FoundProblems(path, lines);
  reportGaps(data.value, pipeline, (keyPath, message) =>
    gaps.add(data.offsetOf(keyPath, 'key'), `${formatKeyPath(keyPath)}: ${message}`),
  );
  return { pipeline, problems, gaps: gaps.sorted() };
}

/** Result for a file with problems. */
export function invalidFile(...problems: Problem[]): ParsedPipeline {
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

  /** @param message a function is not called beyond the maximum number of problems */
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
