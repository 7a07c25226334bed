/** Converts a step's text to the value of an output, at run time and when a file is checked. */
import { inexactNumberIn, inexactNumberMessage } from '../operations/json/json-text.js';
import { check, preview, type JsonSchema } from '../operations/tool/schema.js';

const SHOWN_PROBLEMS = 3;

/** Problem of a number such as `1e999`, which JSON can't hold. */
const NOT_FINITE = 'expected a number that JSON can hold';

export interface OutputValue {
  value?: unknown;
  /** Each with the expected and the actual value; empty if the value fits. */
  problems: string[];
  /** Problem of a number that a double can't hold. */
  inexact?: string;
}

/** Converts a text by an output's schema: keeps a string, and parses other types as JSON. */
export function readOutput(schema: JsonSchema, text: string): OutputValue {
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
  const inexact = value === text || problems.length > 0 ? undefined : inexactNumberIn(text);
  if (!inexact) return { value, problems };
  const where = inexact.path.length > 0 ? `${inexact.path.join('.')}: ` : '';
  return { value, problems, inexact: where + inexactNumberMessage(inexact.number, 'write') };
}

/** `integer`, or `integer or null`. */
export function declaredType({ type }: JsonSchema): string {
  return (Array.isArray(type) ? type : [type ?? 'any value']).join(' or ');
}

function isFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isFinite);
}
