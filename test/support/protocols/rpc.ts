/** JSON-RPC of both generations of MCP over HTTP, behind one function. */
import http from 'node:http';
import { LegacyClient } from '../../revision-2025-11-25/wire.js';
import { WireClient } from '../mcp.js';
import { Refused } from './client.js';

const ERROR_META = 'longhaul/error';
export const KEY_META = 'longhaul/idempotencyKey';

export interface Rpc {
  revision: string;
  /** The whole answer. @throws Error when no answer came */
  answerTo(method: string, params: object, signal?: AbortSignal): Promise<any>;
  /** Sends the request and closes its connection once it is written. */
  lose(method: string, params: object): Promise<void>;
}

/** 2026-07-28. */
export function stateless(url: string, capabilities: object): Rpc & { wire: WireClient } {
  const wire = new WireClient(url, capabilities);
  return {
    revision: '2026-07-28',
    wire,
    answerTo: async (method, params, signal) => answered(await wire.request(method, params, {}, signal)),
    lose: (method, params) => writeAndLeave(url, wire.headers(method, params), wire.envelope(method, params)),
  };
}

/** A session of an older revision. It is opened by the first request, and again once a server doesn't know it. */
export function session(
  url: string,
  revision: string,
  capabilities: object,
): Rpc & { open(): Promise<LegacyClient> } {
  let current: Promise<LegacyClient> | undefined;
  const open = () => {
    const opening = (current ??= LegacyClient.open(url, revision, capabilities));
    // A session that could not be opened is opened again by the next request.
    opening.catch(() => void (current === opening && (current = undefined)));
    return opening;
  };
  return {
    revision,
    open,
    async answerTo(method, params, signal) {
      const client = open();
      const answer = await (await client).request(method, params, signal);
      if (answer.httpStatus !== 404) return answered(answer);
      if (current === client) current = undefined;
      return answered(await (await open()).request(method, params, signal));
    },
    async lose(method, params) {
      const client = await open();
      return writeAndLeave(url, client.headers(), client.message(method, params));
    },
  };
}

/** A stream that was cut has notifications at most. */
function answered(answer: any): any {
  if (answer.result === undefined && answer.error === undefined)
    throw new Error(`no answer: ${JSON.stringify(answer)}`);
  return answer;
}

/** @throws Refused */
export async function request(rpc: Rpc, method: string, params: object, signal?: AbortSignal): Promise<any> {
  const { result, error } = await rpc.answerTo(method, params, signal);
  if (error) throw new Refused(kindOf(error), error.code, error.message, error.data?.retryable === true);
  return result;
}

/** Calls a tool. @throws Refused also for a result with `isError` */
export async function call(
  rpc: Rpc,
  name: string,
  args: object,
  more: object = {},
  signal?: AbortSignal,
): Promise<any> {
  return succeeded(await request(rpc, 'tools/call', { name, arguments: args, ...more }, signal));
}

/** @throws Refused for a result with `isError` */
export function succeeded(result: any): any {
  if (!result.isError) return result;
  const { kind, retryable } = result._meta?.[ERROR_META] ?? {};
  const [first] = result.content ?? [];
  throw new Refused(kind, undefined, first?.text ?? JSON.stringify(result), retryable === true);
}

/** Kind of the error of work that did not complete, in the result of its call. */
export function failureKindOf(result: any): string | undefined {
  return result._meta?.[ERROR_META]?.kind;
}

function kindOf({ code, message, data }: { code: number; message: string; data?: any }): string | undefined {
  if (typeof data?.kind === 'string') return data.kind;
  if (/not found$/i.test(message)) return 'not_found';
  if (/has expired$/.test(message)) return 'expired';
  return code === -32602 ? 'invalid_arguments' : undefined;
}

/** Sends a request and closes the connection once it is written. */
export function writeAndLeave(url: string, headers: Record<string, string>, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { method: 'POST', headers });
    sent.once('error', reject);
    sent.once('close', () => resolve());
    sent.end(JSON.stringify(body), () => {
      sent.removeListener('error', reject).on('error', () => undefined);
      sent.destroy();
    });
  });
}
