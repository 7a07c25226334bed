/**
 * YAML files that define tools: reads, parses and checks them, with the place of each problem. YAML is of version 1.2, in one document, with
 * only JSON's values, and limited in size and depth.
 */
import { readFileSync, statSync } from 'node:fs';
import { LineCounter, Composer, Parser, type CST, type Document } from 'yaml';
import { isObject } from '../../operations/json/is-object.js';
import { LonghaulError } from '../../operations/errors.js';
import { TOOL_NAME } from '../names.js';
import { formatKeyPath, type KeyPath, type Problem, type Report } from './problems.js';
import { at } from '../values.js';
import {
  MAX_FILE_BYTES,
  type YamlData,
  expressionsIn,
  unquotedPattern,
  YamlReader,
  type ReportAt,
} from './yaml-data.js';

const MAX_PROBLEMS = 100;

export interface ParsedFile<T> {
  /** Missing if there are problems. */
  value?: T;
  /** In the order of the file. */
  problems: Problem[];
  /** Gaps in the documentation, which don't prevent a run. Empty if there are problems. */
  gaps: Problem[];
  /** Parts that some clients can't take; the tool is served anyway. Empty if there are problems. */
  findings: Problem[];
}

/** Makes the value, and reports gaps and findings. @throws LonghaulError with a line for each problem */
type MakeValue<T> = (reportGap: Report, reportFinding: Report) => T;

/** Checks a file's data, and reports its problems. @returns called only if there are no problems */
export type CheckData<T> = (data: YamlData, report: Report) => MakeValue<T> | undefined;

/** @param text in UTF-8, if bytes @param path name of the file in problems */
export function parseYamlFile<T>(
  text: string | Uint8Array,
  path: string,
  check: CheckData<T>,
): ParsedFile<T> {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength;
  if (bytes > MAX_FILE_BYTES) return invalidFile(tooLarge(path, bytes));
  try {
    return parseText(
      typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text),
      path,
      check,
    );
  } catch (error) {
    // Not `instanceof TypeError`: the decoder's error may come from another realm.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    return invalidFile(problemAtTop(path, 'expected text in UTF-8; got other bytes'));
  }
}

function parseText<T>(text: string, path: string, check: CheckData<T>): ParsedFile<T> {
  const lines = new LineCounter();
  const found = new FoundProblems(path, lines);
  const data = readYaml(text, lines, (offset, message) => found.add(offset, message));
  if (!data) return invalidFile(...found.sorted());
  const make = check(data, (keyPath, message, place = 'value') => {
    const offset = data.offsetOf(keyPath, place);
    if (!data.isExpression(offset)) found.add(offset, () => lineOf(keyPath, message));
  });
  const problems = found.sorted();
  if (!make || problems.length > 0) return invalidFile(...problems);
  const [gaps, findings] = [new FoundProblems(path, lines), new FoundProblems(path, lines)];
  const reportTo =
    (found: FoundProblems): Report =>
    (keyPath, message, place = 'key') =>
      found.add(data.offsetOf(keyPath, place), lineOf(keyPath, message));
  try {
    const value = make(reportTo(gaps), reportTo(findings));
    return { value, problems, gaps: gaps.sorted(), findings: findings.sorted() };
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return invalidFile(...error.message.split('\n').map((line) => problemAtTop(path, line)));
  }
}

function lineOf(keyPath: KeyPath, message: string | (() => string)): string {
  const prefix = formatKeyPath(keyPath);
  return `${prefix ? `${prefix}: ` : ''}${typeof message === 'string' ? message : message()}`;
}

/** Reads and parses a file. A bad file gives a problem, so it never takes others along. */
export function readYamlFile<T>(
  path: string,
  parse: (bytes: Uint8Array, path: string) => ParsedFile<T>,
): ParsedFile<T> {
  try {
    const found = statSync(path);
    // Reading a pipe or device might block forever.
    if (!found.isFile()) return invalidFile(problemAtTop(path, 'expected a file; got something else'));
    if (found.size > MAX_FILE_BYTES) return invalidFile(tooLarge(path, found.size));
    return parse(readFileSync(path), path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined) return invalidFile(problemAtTop(path, REASONS[code] ?? message));
    return invalidFile(problemAtTop(path, `internal error: ${message}${placeOf(error as Error)}`));
  }
}

/** ` (at typeOf (/app/dist/bin/longhaul.js:7:1))`: the innermost frame of an error's stack. */
function placeOf({ stack }: Error): string {
  const frame = /^ +at (.+)$/m.exec(stack ?? '')?.[1];
  return frame === undefined ? '' : ` (at ${frame})`;
}

const REASONS: Partial<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: "it can't be read: no permission",
};

/** The tool's name by the file's name; reports it if no tool can have it. */
export function defaultToolName(file: unknown, path: string, report: Report): string {
  const name = toolNameOf(path);
  if (isObject(file) && at(file, 'name') === undefined && !TOOL_NAME.test(name))
    report(
      ['name'],
      `missing; the file's name can't be a tool's: expected a letter, then letters, digits or _`,
    );
  return name;
}

/** Default tool name: `deploy_site` for `pipelines/deploy-site.yml`. */
export function toolNameOf(path: string): string {
  const file = path.split(/[/\\]/).at(-1) ?? '';
  return file.replace(/\.(yml|yaml)$/i, '').replaceAll('-', '_');
}

function invalidFile(...problems: Problem[]): Omit<ParsedFile<never>, 'value'> {
  return { problems, gaps: [], findings: [] };
}

function tooLarge(path: string, bytes: number): Problem {
  return problemAtTop(path, `expected at most 1 MiB; got ${bytes} bytes`);
}

function problemAtTop(path: string, message: string): Problem {
  return { path, line: 1, column: 1, message };
}

class FoundProblems {
  readonly #problems: { offset: number; message: string }[] = [];
  #more = 0;

  constructor(
    private readonly path: string,
    private readonly lines: LineCounter,
  ) {}

  /** @param message a function isn't called beyond the maximum number of problems */
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

/** Maximum depth. The library's own limit is a stack overflow, which ends the process if it hits a regular expression. */
const MAX_DEPTH = 100;

/** Reads a text; undefined if it isn't valid YAML. */
function readYaml(text: string, lines: LineCounter, report: ReportAt): YamlData | undefined {
  const control = /[^\P{Cc}\t\r\n\u0085]/u.exec(text);
  if (control) {
    lines.addNewLine(0);
    for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    report(control.index, `expected text; got the control character U+${code}`);
    return undefined;
  }
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const tooDeep = tooDeepAt(tokens);
  if (tooDeep !== undefined) {
    report(tooDeep, `expected at most ${MAX_DEPTH} levels of nesting; got more`);
    return undefined;
  }
  // The reader checks duplicate keys: the library compares each key with all others.
  const composer = new Composer({
    ...{ version: '1.2', prettyErrors: false, uniqueKeys: false },
    // Whole numbers keep their digits until they are checked.
    intAsBigInt: true,
  });
  const documents = [...composer.compose(tokens, true, text.length)];
  const document = documents[0]!;
  if (documents[1]) report(documents[1].range[0], 'expected one document; `---` begins another');
  if (!isYaml(document, text, lines, report)) return undefined;
  return new YamlReader(document, text, report);
}

function isYaml(document: Document.Parsed, text: string, lines: LineCounter, report: ReportAt): boolean {
  const { explicit, version } = document.directives.yaml;
  if (explicit && version !== '1.2') report(0, `expected YAML 1.2; got ${version}`);
  for (const { pos, message } of document.warnings)
    report(pos[0], unquotedPattern(text, pos[0]) ?? `${message}; remove it`);
  // One mistake causes several of the library's errors.
  let lastLine = 0;
  for (const [index, { code, pos, message }] of document.errors.entries()) {
    let [offset] = pos;
    const { line } = lines.linePos(offset);
    if (line === lastLine) continue;
    lastLine = line;
    const next = document.errors[index + 1];
    const isAboveLines = next?.code === 'MULTILINE_IMPLICIT_KEY' && next.pos[0] === offset;
    const reworded = isAboveLines ? VALUE_ABOVE_LINES : rewordedError(code, message);
    while (text[offset] === ' ') offset += 1;
    report(offset, `not YAML: ${unquotedPattern(text, pos[0]) ?? reworded}`);
  }
  if (document.errors.length === 0) return true;
  for (const { offset, message } of expressionsIn(text)) {
    const lineStart = text.lastIndexOf('\n', offset) + 1;
    if (!/(^|\s)#/.test(text.slice(lineStart, offset))) report(offset, message);
  }
  return false;
}

const QUOTES = 'put the text between quotes, or write it below `|`';
const SAME_INDENTATION = 'the indentation of the lines before it';
const VALUE_ABOVE_LINES = "its key has this value already; expected the next line at the key's indentation";

function rewordedError(code: string, message: string): string {
  return SYNTAX.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1](message) ?? message;
}

const SYNTAX: [pattern: RegExp, words: (message: string) => string][] = [
  [/^TAB_AS_INDENT/, () => "tabs can't be used for indentation; use spaces"],
  [/^BAD_INDENT All mapping items|A block sequence may not be/, () => `expected ${SAME_INDENTATION}`],
  [/^BLOCK_AS_IMPLICIT_KEY/, () => 'text that contains ": " needs quotes'],
  [/Unexpected scalar at node end/, () => `expected the end of the value; got more text; ${QUOTES}`],
  [/Plain value cannot start with/, (message) => `${message}; ${QUOTES}`],
  [
    /Implicit map keys need to be followed by map values/,
    () =>
      `expected a key with a colon and a space, \`key: value\`, \`- \` before an item, or ${SAME_INDENTATION}; got text alone`,
  ],
  [
    /Implicit keys need to be on a single line/,
    () => 'expected a colon at the end of this line, `key:`, since other lines are nested under it',
  ],
  [/Sequence item without - indicator/, () => `expected \`- \` before an item, or ${SAME_INDENTATION}`],
  [
    /Flow (map|sequence) in block collection must be sufficiently indented/,
    (message) =>
      `expected ${message.at(-1)} before this, to close the open ${message.includes('map') ? '{' : '['}`,
  ],
];

function tooDeepAt(tokens: CST.Token[]): number | undefined {
  const left: [CST.Token, number][] = tokens.map((token) => [token, 0]);
  for (let next = left.pop(); next; next = left.pop()) {
    const [token, depth] = next;
    if (depth > MAX_DEPTH) return token.offset;
    if (token.type === 'document' && token.value) left.push([token.value, depth]);
    if (!('items' in token)) continue;
    for (const { key, value } of token.items) {
      if (key) left.push([key, depth + 1]);
      if (value) left.push([value, depth + 1]);
    }
  }
  return undefined;
}
