/**
 * Characters that change how text is shown: C0 (except tab and line feed), DEL, C1, line and paragraph separators, and
 * bidirectional controls (Unicode Standard Annex 9, section 2).
 */
export const CONTROL_CHARACTERS =
  /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces control characters in JSON by `\u` escapes, which keeps its value. */
export function escapeJson(json: string): string {
  return json.replace(CONTROL_CHARACTERS, (found) => `\\u${codeOf(found)}`);
}

export function codeOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}
