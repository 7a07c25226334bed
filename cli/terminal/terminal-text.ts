/** Escapes text from other programs for the terminal. Escaping twice changes nothing. */
import { codeOf, CONTROL_CHARACTERS, escapeJson } from '../../platform/observe/control-characters.js';

const SCREEN_LINES = 40;
const ESCAPE = '\u001b';
/** SGR sequences, such as colors, which only change how text looks. */
const STYLE = new RegExp(`(${ESCAPE}\\[[0-9;:]*m)`);
/** An incomplete style sequence at the end of a text. */
const UNFINISHED_STYLE = new RegExp(`${ESCAPE}(\\[[0-9;:]{0,30})?$`);

/** Replaces control characters, except tabs and line feeds, by symbols (`␛`) or numbers (`<U+202E>`), and CRLF by a line feed. */
export function escapeControls(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(CONTROL_CHARACTERS, symbolOf);
}

/** Like {@link escapeControls}, for one line. */
export function escapeLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\u240a').replaceAll('\t', ' ');
}

/** Like {@link escapeControls}, but keeps styles, for logs. */
export function escapeStyled(text: string): string {
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : escapeControls(part)))
    .join('');
}

/** Escaped lines, as many as fit one screen. */
export function escapedLines(text: string): string[] {
  const lines = escapeControls(text).split('\n');
  const more = lines.length - SCREEN_LINES;
  return more > 0 ? [...lines.slice(0, SCREEN_LINES), `... (${more} more lines)`] : lines;
}

/** Splits off an incomplete style sequence at the end. */
export function splitStyle(text: string): [text: string, rest: string] {
  const at = text.search(UNFINISHED_STYLE);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

/** JSON that is safe on a terminal. @param indent number of spaces. Default: all on one line */
export function jsonText(document: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(document, null, indent));
}

function symbolOf(found: string): string {
  const code = found.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : `<U+${codeOf(found).toUpperCase()}>`;
}
