/**
 * JSON-RPC of MCP 2026-07-28 over the SDK's Streamable HTTP transport. Doesn't use the SDK's Client: its codec refuses
 * `resultType: "task"` and its subscriptions know no task IDs. Without handshake and session, each request stands alone, and a
 * new connection continues where a broken one stopped.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SdkHttpError,
  StreamableHTTPClientTransport,
  SUBSCRIPTION_ID_META_KEY,
  type JSONRPCMessage,
} from '@modelcontextprotocol/client';
import { isObject } from '../../operations/json/is-object.js';
import { PERSON_META_KEY } from '../../operations/wire/meta-keys.js';
import { credentialHeaders, refusedCredential } from './credential.js';

const PROTOCOL_VERSION = '2026-07-28';
const CAPABILITIES = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
/** Default time limit of an answer. */
const ANSWER_LIMIT_MS = 30_000;

/** No server, a broken connection, or something that isn't an MCP server. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/** A JSON-RPC error from the server. */
export class RpcError extends Error {
  override name = 'RpcError';
  constructor(
    readonly method: string,
    /** Task ID or tool of the request. */
    readonly subject: string | undefined,
    readonly code: number,
    message: string,
    data: unknown,
  ) {
    super(message);
    const { kind, retryable } = (data ?? {}) as { kind?: string; retryable?: boolean };
    this.kind = kind;
    this.isRetryable = retryable === true;
  }
  /** Longhaul's error kind, if the server sends it. */
  readonly kind: string | undefined;
  readonly isRetryable: boolean;
}

export interface Notification {
  method: string;
  params: Record<string, unknown>;
}

export interface RequestOptions {
  signal?: AbortSignal;
  /** Time limit in milliseconds. Default: 30 seconds; Infinity for none. */
  limitMs?: number;
  onNotification?: (notification: Notification) => void;
  onProgress?: (progress: { progress: number; message?: string }) => void;
}

interface Pending {
  method: string;
  subject: string | undefined;
  resolve(result: Record<string, unknown>): void;
  reject(error: Error): void;
  onNotification: RequestOptions['onNotification'];
  onProgress: RequestOptions['onProgress'];
}

export class Connection {
  readonly #transport: StreamableHTTPClientTransport;
  readonly #envelope: Record<string, unknown>;
  readonly #pending = new Map<number, Pending>();
  #started: Promise<void> | undefined;
  #lastId = 0;

  constructor(
    readonly url: URL,
    version: string,
    /** Its `clientInfo.name`. */
    name = 'longhaul-cli',
  ) {
    this.#transport = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: credentialHeaders() },
    });
    this.#transport.onmessage = (message) => this.#receive(message);
    this.#envelope = {
      [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION,
      [CLIENT_INFO_META_KEY]: { name, version },
      [CLIENT_CAPABILITIES_META_KEY]: CAPABILITIES,
      [PERSON_META_KEY]: true,
    };
  }

  /** Sends a request and waits for its result. @throws Unreachable, RpcError, or the signal's reason */
  async request<Result = Record<string, unknown>>(
    method: string,
    params: Record<string, unknown>,
    { signal, limitMs = ANSWER_LIMIT_MS, onNotification, onProgress }: RequestOptions = {},
  ): Promise<Result> {
    this.#started ??= this.#transport.start();
    await this.#started;
    // A listener misses an event that has already fired.
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const ended = new AbortController();
    const requestSignal = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
    const timer = Number.isFinite(limitMs)
      ? setTimeout(() => ended.abort(new Unreachable(`no answer within ${limitMs / 1000} s`)), limitMs)
      : undefined;
    try {
      return await new Promise<Result>((resolve, reject) => {
        const subject = params['taskId'] ?? params['name'];
        this.#pending.set(id, {
          method,
          subject: typeof subject === 'string' ? subject : undefined,
          resolve: (result) => resolve(result as Result),
          reject,
          onNotification,
          onProgress,
        });
        const _meta = onProgress ? { ...this.#envelope, progressToken: id } : this.#envelope;
        const lost = (why: string) => reject(new Unreachable(why));
        requestSignal.addEventListener('abort', () => reject(requestSignal.reason as Error), { once: true });
        this.#transport
          .send(
            { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
            { requestSignal, onRequestStreamEnd: () => lost('the connection ended') },
          )
          .catch((error: unknown) => reject(sendFailure(error, method)));
      });
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
      ended.abort();
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #receive(message: JSONRPCMessage): void {
    if ('method' in message) {
      if (message.method === 'notifications/progress') {
        const { progressToken, ...progress } = message.params as { progressToken: number; progress: number };
        this.#pending.get(progressToken)?.onProgress?.(progress);
        return;
      }
      const id = (message.params as { _meta?: Record<string, unknown> } | undefined)?._meta?.[
        SUBSCRIPTION_ID_META_KEY
      ];
      this.#pending.get(id as number)?.onNotification?.(message as Notification);
      return;
    }
    const pending = this.#pending.get(message.id as number);
    if (!pending) return;
    if ('result' in message) pending.resolve(message.result);
    else {
      const { code, message: text, data } = message.error;
      pending.reject(new RpcError(pending.method, pending.subject, code, text, data));
    }
  }
}

/** Converts an error of the transport to one of this file's errors. */
function sendFailure(error: unknown, method: string): Error {
  if (error instanceof SdkHttpError) {
    const { status, text } = error.data as { status?: number; text?: string };
    const { error: rpc, error_description } = bodyOf(text);
    const refused = refusedCredential(status, error_description);
    if (refused) return refused;
    if (rpc && status !== undefined && status < 500)
      return new RpcError(method, undefined, rpc.code, rpc.message, rpc.data);
    return new Unreachable(`HTTP ${status ?? '?'}: not an MCP endpoint, or one that fails`);
  }
  // fetch puts the reason into the cause. Without a cause, the answer couldn't be parsed.
  const cause = (error as Error).cause as (Error & { code?: string }) | undefined;
  if (UNTRUSTED_CERTIFICATE.test(cause?.code ?? ''))
    return new Unreachable(`${cause!.message}: a private authority has to be named in NODE_EXTRA_CA_CERTS`);
  return new Unreachable(cause?.message || cause?.code || 'the server at that address does not speak MCP');
}

/** OpenSSL's codes for certificates of an unknown authority. */
const UNTRUSTED_CERTIFICATE = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/;

/** The body of a refusal: a JSON-RPC error, or an OAuth error with its description (RFC 6750, section 3.1). */
function bodyOf(text = ''): {
  error?: { code: number; message: string; data?: unknown };
  error_description?: string;
} {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : {};
  } catch {
    return {};
  }
}
