/** Arguments that every long tool has besides its own: `wait`, `timeout`, `idempotency_key`. */
import { LonghaulError } from '../../operations/errors.js';
import { check, type JsonSchema } from '../../operations/tool/schema.js';
import type { Tool } from '../../operations/tool/index.js';
import { takeIdempotencyKey, withKeyProperty } from '../call/idempotency-key.js';
import { LONGEST_WAIT_SECONDS } from './wait.js';

export interface CallOptions {
  wait: boolean;
  timeoutSeconds: number;
  idempotencyKey?: string;
}

/** Arguments about the wait. */
const WAIT: JsonSchema = { type: 'boolean', description: 'Wait for the result.' };
const TIMEOUT: JsonSchema = {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: LONGEST_WAIT_SECONDS,
  description: 'Longest wait, in seconds.',
};
const WAITING: JsonSchema = { type: 'object', properties: { wait: WAIT, timeout: TIMEOUT } };

/** A tool's input schema with these arguments. @param inputSchema Default: as its author wrote it */
export function plainInputSchema(tool: Tool, inputSchema = tool.inputSchema): JsonSchema {
  return withKeyProperty({
    ...inputSchema,
    properties: {
      ...(inputSchema['properties'] as object | undefined),
      wait: { ...WAIT, default: tool.wait },
      timeout: { ...TIMEOUT, default: tool.timeoutSeconds },
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
  const problems = check(WAITING, { wait, timeout }, 'arguments');
  if (problems.length) throw new LonghaulError('invalid_arguments', problems.join('\n'));
  const { args, ...key } = takeIdempotencyKey(rest);
  return { options: { wait: wait as boolean, timeoutSeconds: timeout as number, ...key }, args };
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
