/** Converts the text that a step wrote to the value of an output: at run time, and when a file is checked. */
import { check, preview, type JsonSchema } from '../operations/schema.js';

/** Maximum number of listed problems of one value. */
const SHOWN_PROBLEMS = 3;

/** Problem of a number such as `1e999`, which JSON can't hold. */
const NOT_FINITE = 'expected a number that JSON can hold';

/**
 * Converts a text by an output's schema: a string stays as it is, other types are parsed as JSON.
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
