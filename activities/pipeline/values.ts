/** Converts values to environment variables. */
import { NAME } from '../../pipelines/names.js';

/** Maximum size of a variable, in bytes, because environments are limited. Larger values are only in the file of the inputs. */
const MAX_VARIABLE_BYTES = 32 * 1024;
/** Maximum total size of one kind of variables, in bytes. Values beyond it get no variable. */
const MAX_VARIABLES_BYTES = 512 * 1024;

export function variableText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** An object's values as variables, as far as they fit. Additional inputs may have names that aren't valid for variables. */
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

/** Whether it is small enough for a variable, without a NUL character. */
export function fitsVariable(text: string): boolean {
  return !text.includes('\0') && Buffer.byteLength(text) <= MAX_VARIABLE_BYTES;
}
