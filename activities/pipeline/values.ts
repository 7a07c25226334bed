/** How values become environment variables. */
import { NAME } from '../../pipelines/names.js';

/** A larger value gets no variable: an environment is small. It is in the file of the inputs. */
const MAX_VARIABLE_BYTES = 32 * 1024;
/** Once a kind of variables is larger than this, the rest gets none. */
const MAX_VARIABLES_BYTES = 512 * 1024;

/** A value as text: strings as they are, lists and objects as JSON. */
export function variableText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/**
 * Variables for the values of an object, as far as they fit. A name that no input may have (a pipeline can allow any
 * further ones) gets none.
 *
 * @param variableOf gives a value's variable
 */
export function variablesOf(
  variableOf: (name: string) => string,
  values: Record<string, unknown>,
): Record<string, string> {
  const variables: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(values)) {
    const text = variableText(value);
    if (!NAME.test(name) || !fitsVariable(text)) continue;
    bytes += Buffer.byteLength(text);
    if (bytes > MAX_VARIABLES_BYTES) break;
    variables[variableOf(name)] = text;
  }
  return variables;
}

/** Is it small enough for a variable, and without the character that no variable can hold? */
export function fitsVariable(text: string): boolean {
  return !text.includes('\0') && Buffer.byteLength(text) <= MAX_VARIABLE_BYTES;
}
