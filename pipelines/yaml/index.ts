/** Reads a pipeline's YAML: version 1.2, one document, only JSON's values, limited in size and depth, with places in the text. */
import { Composer, Parser, type CST, type Document, type LineCounter } from 'yaml';
import { expressionsIn, unquotedPattern, YamlReader, type ReportAt, type YamlData } from './yaml-data.js';

/** Maximum depth. The library's own limit is a stack overflow, which ends the process if it hits a regular expression. */
const MAX_DEPTH = 100;

/** Reads a text; undefined if it isn't valid YAML. */
export function readYaml(text: string, lines: LineCounter, report: ReportAt): YamlData | undefined {
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
