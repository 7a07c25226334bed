/** Escapes text from other programs for the terminal. */

const SCREEN_LINES = 40;
/** Colors and the like: SGR sequences. */
const STYLE = /^\u001b\[[0-9;:]*m$/; // eslint-disable-line no-control-regex
const CONTROL = /\u001b\[[0-9;:]*m|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g; // eslint-disable-line no-control-regex
/** An incomplete style sequence at the end of a text. */
const UNFINISHED_STYLE = /\u001b(\[[0-9;:]{0,30})?$/; // eslint-disable-line no-control-regex

/** Replaces control characters, except tabs and styles, by symbols: `␛`, `␍`. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (found) => (STYLE.test(found) ? found : symbolOf(found.charCodeAt(0))));
}

/** Escaped lines, as many as fit one screen. */
export function escapedLines(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => escapeControls(line));
  const more = lines.length - SCREEN_LINES;
  return more > 0 ? [...lines.slice(0, SCREEN_LINES), `... (${more} more lines)`] : lines;
}

/** Splits off an incomplete style sequence at the end. */
export function splitStyle(text: string): [text: string, rest: string] {
  const at = text.search(UNFINISHED_STYLE);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

function symbolOf(code: number): string {
  if (code === 0x7f) return '\u2421';
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
}
