/** The value of a pipeline's output, from the text that a step wrote: at run time, and for texts that the file has. */
import { check, preview, type JsonSchema } from '../operations/schema.js';

/** How many problems of one value are listed. */
const SHOWN_PROBLEMS = 3;

/** A number such as `1e999`, which a result can't hold. */
export const NOT_FINITE = 'expected a number that JSON can hold';

/**
 * Reads a text as an output's schema says: a string as it is, everything else from JSON.
 *
 * @returns the value; with problems (what was expected, what came) when it doesn't fit
 */
export function readOutput(schema: JsonSchema, text: string): { value?: unknown; problems: string[] } {
  let value: unknown = text;
  if (schema['type'] !== undefined && schema['type'] !== 'string') {
    try {
      value = JSON.parse(text);
    } catch {
      return { problems: [`expected ${declaredType(schema)}, written as JSON; got ${preview(text)}`] };
    }
  }
  const found = check(schema, value, '').map((problem) => problem.replace(/^(: |\.)/, ''));
  const problems = found.slice(0, SHOWN_PROBLEMS);
  if (found.length > SHOWN_PROBLEMS) problems.push(`${found.length - SHOWN_PROBLEMS} more problems`);
  if (problems.length === 0 && !isFinite(value)) problems.push(NOT_FINITE);
  return { value, problems };
}

/** `integer`, or `integer or null`. */
export function declaredType({ type }: JsonSchema): string {
  return (Array.isArray(type) ? type : [type ?? 'any value']).join(' or ');
}

function isFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isFinite);
}
