/** Idempotency keys of calls, for all protocols. */
import { LonghaulError } from '../../operations/errors.js';
import { preview, type JsonSchema } from '../../operations/tool/schema.js';
import type { BuiltinTool } from '../plain/builtin-tool.js';
import { invalidParams } from './protocol-error.js';

/** Name of the argument. No tool can declare it: see RESERVED_ARGUMENTS. */
const ARGUMENT = 'idempotency_key';
/** Name in the `_meta` of a tools/call, for clients that set a key without their model. */
const META_KEY = 'longhaul/idempotencyKey';
/** In characters. */
const LONGEST_KEY = 200;

const property: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: LONGEST_KEY,
  description: 'Repeats with the same key and arguments return the same operation.',
};

export function withKeyProperty(inputSchema: JsonSchema): JsonSchema {
  const properties = { ...(inputSchema['properties'] as object | undefined), [ARGUMENT]: property };
  return { ...inputSchema, properties };
}

/**
 * Copies the key in a call's `_meta` to the argument `idempotency_key`. As for any optional argument, null counts as absent.
 *
 * @param own the tool, if it is one of Longhaul's own. Those that start nothing ignore the key
 * @throws ProtocolError -32602 for an invalid key in `_meta`, or one that differs from the argument
 */
export function withKeyOfMeta(
  given: Record<string, unknown>,
  meta: unknown,
  own: BuiltinTool | undefined,
): Record<string, unknown> {
  const { [ARGUMENT]: argument, ...others } = given;
  const args = argument === null ? others : given;
  const key = (meta as Record<string, unknown> | null | undefined)?.[META_KEY];
  if (key === undefined || (own && !takesKey(own))) return args;
  const where = `params._meta["${META_KEY}"]`;
  if (!isKey(key)) throw invalidParams(`${where}: ${expectation(key)}`);
  if ((argument ?? key) !== key) throw invalidParams(disagreement(where, key, argument));
  return { ...args, [ARGUMENT]: key };
}

/**
 * A call's key, from its argument or from another place.
 *
 * @param where name of the other place in the error
 * @throws LonghaulError `invalid_arguments` for two different keys
 */
export function agreedKey(
  argument: string | undefined,
  where: string,
  other: string | undefined,
): string | undefined {
  if (argument !== undefined && other !== undefined && argument !== other)
    throw new LonghaulError('invalid_arguments', disagreement(where, other, argument));
  return argument ?? other;
}

/** Separates a call's key from the tool's arguments. @throws LonghaulError `invalid_arguments` unless it has 1 to 200 characters */
export function takeIdempotencyKey(given: Record<string, unknown>): {
  args: Record<string, unknown>;
  idempotencyKey?: string;
} {
  const { [ARGUMENT]: key, ...args } = given;
  if (key === undefined) return { args };
  if (!isKey(key)) throw new LonghaulError('invalid_arguments', `arguments.${ARGUMENT}: ${expectation(key)}`);
  return { args, idempotencyKey: key };
}

/** In tools that only read, the argument is a filter, not a key. */
function takesKey({ inputSchema, annotations }: BuiltinTool): boolean {
  return !annotations.readOnlyHint && Object.hasOwn(inputSchema['properties'] as object, ARGUMENT);
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= LONGEST_KEY;
}

function disagreement(where: string, key: string, argument: unknown): string {
  return `arguments.${ARGUMENT}: expected the key of ${where}, ${preview(key)}, or none; got ${preview(argument)}`;
}

function expectation(value: unknown): string {
  return `expected a text of 1 to ${LONGEST_KEY} characters; got ${preview(value)}`;
}
