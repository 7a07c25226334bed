/** Arguments that every long tool has besides its own: `wait`, `timeout`, `idempotency_key`. */
import { LonghaulError } from '../../operations/errors.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import type { Tool } from '../../operations/tool/index.js';
import { takeIdempotencyKey, withKeyProperty } from '../call/idempotency-key.js';
import { LONGEST_WAIT_SECONDS } from './wait.js';

export interface CallOptions {
  wait: boolean;
  timeoutSeconds: number;
  idempotencyKey?: string;
}

/** A tool's input schema with these arguments. @param inputSchema Default: as its author wrote it */
export function plainInputSchema(tool: Tool, inputSchema = tool.inputSchema): JsonSchema {
  const { wait, timeoutSeconds } = tool;
  return withKeyProperty({
    ...inputSchema,
    properties: {
      ...(inputSchema['properties'] as object | undefined),
      wait: {
        type: 'boolean',
        default: wait,
        description: 'Wait for the result.',
      },
      timeout: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: LONGEST_WAIT_SECONDS,
        default: timeoutSeconds,
        description: 'Longest wait, in seconds.',
      },
    },
  });
}

/** Separates the call's options from the tool's arguments. @throws LonghaulError `invalid_arguments` with a line for each problem */
export function takeOptions(
  tool: Tool,
  given: Record<string, unknown>,
): { options: CallOptions; args: Record<string, unknown> } {
  const {
    wait = tool.wait,
    timeout = tool.timeoutSeconds,
    ...rest
  } = withoutNulls(plainInputSchema(tool), given);
  const problems = [
    typeof wait === 'boolean' || `wait: expected true or false; got ${shown(wait)}`,
    isDuration(timeout) ||
      `timeout: expected a number of seconds above 0, at most ${LONGEST_WAIT_SECONDS}; got ${shown(timeout)}`,
  ].filter((problem) => problem !== true);
  if (problems.length)
    throw new LonghaulError(
      'invalid_arguments',
      problems.map((problem) => `arguments.${problem}`).join('\n'),
    );
  const { args, ...key } = takeIdempotencyKey(rest);
  return { options: { wait: wait as boolean, timeoutSeconds: timeout as number, ...key }, args };
}

/** Whether the value is a timeout in seconds, above 0 and at most {@link LONGEST_WAIT_SECONDS}. */
function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value <= LONGEST_WAIT_SECONDS;
}

function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/**
 * Removes null arguments that the schema declares as optional, with another type and no default. Some clients present such
 * arguments to their models as nullable (LlamaIndex: `anyOf: [..., {type: null}], default: null`) and send the model's value.
 *
 * @param schema the tool's published input schema
 */
export function withoutNulls(schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema | boolean>;
  const required = (schema['required'] ?? []) as string[];
  const isUnset = ([name, value]: [string, unknown]) =>
    value === null &&
    Object.hasOwn(properties, name) &&
    !required.includes(name) &&
    !keepsNull(properties[name]!);
  return Object.fromEntries(Object.entries(args).filter((entry) => !isUnset(entry)));
}

/** False only for a property without default, with a plain type or enum that excludes null. */
function keepsNull(property: JsonSchema | boolean): boolean {
  if (typeof property === 'boolean' || 'default' in property) return true;
  const { type, enum: values } = property as { type?: string | string[]; enum?: unknown[] };
  if (values) return values.includes(null);
  return type === undefined || [type].flat().includes('null');
}
