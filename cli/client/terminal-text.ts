/** Text that a program printed, made fit for a terminal that isn't its own. */

const SCREEN_LINES = 40;
/** Colors and the like: SGR sequences. */
const STYLE = /^\u001b\[[0-9;:]*m$/; // eslint-disable-line no-control-regex
const CONTROL = /\u001b\[[0-9;:]*m|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g; // eslint-disable-line no-control-regex
/** The beginning of a style whose end is yet to come. */
const UNFINISHED_STYLE = /\u001b(\[[0-9;:]{0,30})?$/; // eslint-disable-line no-control-regex

/** Leaves tabs and styles as they are and shows every other control character as a symbol: `␛`, `␍`. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (found) => (STYLE.test(found) ? found : symbolOf(found.charCodeAt(0))));
}

/** Lines that a terminal may show, as many as fit one screen. */
export function escapedLines(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => escapeControls(line));
  const more = lines.length - SCREEN_LINES;
  return more > 0 ? [...lines.slice(0, SCREEN_LINES), `... (${more} more lines)`] : lines;
}

/** Splits off the beginning of a style, which can be judged only with its end. */
export function splitStyle(text: string): [text: string, rest: string] {
  const at = text.search(UNFINISHED_STYLE);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

function symbolOf(code: number): string {
  if (code === 0x7f) return '\u2421';
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
}
