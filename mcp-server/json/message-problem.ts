/** Names the wrong member of an invalid JSON-RPC message. The SDKs' schemas refuse it without a name. */
import { isObject } from '../../operations/json/is-object.js';

const LONGEST_VALUE = 100;

/**
 * The first wrong member of a message, as `params: expected an object; got null` (specs: 2026-07-28 basic, "Messages").
 *
 * @param message a parsed message; not a batch
 * @returns undefined without such a member. An SDK may still refuse the message for another reason
 */
export function memberProblem(message: unknown): string | undefined {
  if (!isObject(message)) return `message: expected an object; got ${shown(message)}`;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== '2.0') return `jsonrpc: expected "2.0"; got ${shown(jsonrpc)}`;
  const isResponse = method === undefined && ('result' in message || 'error' in message);
  if (isResponse) return undefined;
  if (id !== undefined && typeof id !== 'string' && !Number.isInteger(id))
    return `id: expected a string or an integer; got ${shown(id)}`;
  if (typeof method !== 'string') return `method: expected a string; got ${shown(method)}`;
  return params === undefined || isObject(params)
    ? undefined
    : `params: expected an object; got ${shown(params)}`;
}

/** As {@link memberProblem}, for a batch: `1.params: expected an object; got null`. @param most maximum number of messages */
export function batchProblem(batch: unknown[], most: number): string | undefined {
  if (batch.length === 0 || batch.length > most)
    return `batch: expected 1 to ${most} messages; got ${batch.length}`;
  for (const [index, message] of batch.entries()) {
    const problem = memberProblem(message);
    if (problem !== undefined) return `${index}.${problem}`;
  }
  return undefined;
}

/** The ID for the error response: the message's own if it is valid, else null. */
export function idIn(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const json = JSON.stringify(value);
  return json.length > LONGEST_VALUE ? `${json.slice(0, LONGEST_VALUE)}...` : json;
}

/** Moves a tools/call's `params.request` up: SEP-1391's example nests name and arguments there, unlike its schema. */
export function withoutNesting<T>(message: T): T {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: Record<string, unknown> };
  if (method !== 'tools/call' || typeof params !== 'object' || params === null) return message;
  const { request, ...rest } = params;
  if (rest['name'] !== undefined || typeof request !== 'object' || request === null) return message;
  return { ...message, params: { ...request, ...rest } };
}

/** The token in a raw message's `_operation` (SEP-1391). Undefined if it isn't a string. */
export function operationTokenOf(fields: unknown): string | undefined {
  const { _operation } = (fields ?? {}) as { _operation?: { token?: unknown } | null };
  const token = typeof _operation === 'object' ? _operation?.token : undefined;
  return typeof token === 'string' ? token : undefined;
}
