/** Results that break the output that their tool declares. For Temporal's sandbox too. */
import { check, type JsonSchema } from './schema.js';

/** Failure type, and error kind, of an operation with such a result. */
export const INVALID_OUTPUT = 'invalid_output';

/** Name of the artifact that keeps such a result. */
export const KEPT_RESULT = 'result.json';

/** A line for each problem of a result: path, what was expected, what came. Undefined if it fits. */
export function outputProblem(schema: JsonSchema, result: unknown): string | undefined {
  const problems = check(schema, result, 'result');
  if (problems.length === 0) return undefined;
  return [
    ...problems,
    "The work is done, but its result doesn't fit the output that the tool declares.",
  ].join('\n');
}
