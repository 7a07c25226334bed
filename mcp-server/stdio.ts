/** MCP over standard input and output, for all revisions. */
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Engine } from '../engine/index.js';
import type { Authentication, Caller } from './auth/index.js';
import type { Logger } from '../platform/observe/log.js';
import { withTimeout } from '../platform/with-timeout.js';
import { Shutdown } from './shutdown/index.js';
import { createCurrentServer } from './revision-2026-07-28/server.js';
import type { Guard } from './guard.js';
import { Cancellations } from './sep-1391/cancellations.js';
import { Subscriptions } from './revision-2026-07-28/subscriptions.js';
import { createSharedContext } from './revision-2025-11-25/context.js';
import { LegacyStdio } from './revision-2025-11-25/stdio.js';
import { withoutNesting } from './json/message-problem.js';
import { readLines, UnansweredRequests } from './json/stdio-lines.js';
import type { ResourceLinksSetting } from './links/links-as-text.js';
import type { Serving } from './call/serving.js';
import { rpcErrorOf } from './call/protocol-error.js';

/** How long waits continue after the input ends, in milliseconds. Clients send SIGTERM 2 s after it. */
const WAIT_LIMIT_MS = 1_000;
/** How long other requests may take after that, in milliseconds. The first connection to Temporal takes up to 30 s. */
const ANSWER_LIMIT_MS = 45_000;

/**
 * Serves until the client has closed standard input and received its answers, or until a signal arrives. Answers requests that
 * don't need Temporal at once.
 *
 * @param guard of this process's user, over `engine`
 * @param authentication who uses this process, and until when
 * @param secret seals the state that clients carry
 * @param stack ends the service if it rejects
 * @throws the reason with which `stack` rejected; SettingsError without a valid key, if there must be one
 */
export async function serveStdioProtocols(
  engine: Engine,
  guard: Guard,
  authentication: Authentication,
  secret: Buffer,
  logger: Logger,
  resourceLinks: ResourceLinksSetting,
  stack: Promise<void>,
): Promise<void> {
  const unanswered = new UnansweredRequests();
  const output = new StdioServerTransport(new PassThrough());
  /** Counts answers, including batches, once they are written or can't be. */
  const send: Transport['send'] = async (message) => {
    try {
      await output.send(message);
    } finally {
      for (const one of [message].flat()) unanswered.sent(one);
    }
  };
  const shutdown = new Shutdown();
  const serving: Serving = { transport: 'stdio', resourceLinks, logger };
  const context = createSharedContext(engine, secret, logger, serving, shutdown);
  const legacy = new LegacyStdio({ ...context, engine: guard }, (message) => send(message as JSONRPCMessage));
  const subscriptions = new OpenSubscriptions(new Subscriptions(serving), guard, send, logger);
  // Request IDs are unique on this connection, and no other process serves it.
  const connection = { session: randomUUID(), cancellations: new Cancellations(logger, false) };
  const transport: Transport = { start: () => output.start(), send, close: () => output.close() };
  output.onerror = (error) => transport.onerror?.(error);
  output.onclose = () => {
    subscriptions.cancelAll();
    transport.onclose?.();
  };
  serveStdio(() => createCurrentServer(guard, serving, secret, shutdown, connection), {
    legacy: 'reject',
    transport,
    onerror: (error) => logger.debug({ reason: error.message }, 'a message was refused'),
  });
  const isLegacy = legacyDetector();
  const receive = (message: JSONRPCMessage): void => {
    if (isLegacy(message)) return legacy.receive(message);
    if (isJSONRPCRequest(message) && message.method === 'subscriptions/listen')
      return void subscriptions.listen(message);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      if (subscriptions.cancel(message.params?.['requestId'] as RequestId)) return;
      void shutdown.track(connection.cancellations.take(guard, connection.session, message.params));
    }
    transport.onmessage?.(withoutNesting(message));
  };
  const endOfInput = readLines(process.stdin, {
    onMessage(message) {
      unanswered.received(message);
      receive(message);
    },
    async onBatch(batch) {
      batch.forEach((message) => unanswered.received(message));
      if (!(await legacy.receiveBatch(batch))) batch.forEach((message) => unanswered.refused(message));
    },
    onRefusal: (id, error) => void send({ jsonrpc: '2.0', id, error } as JSONRPCMessage),
  });
  /** Requests that arrived before the input ended still get their answers. Only waits are cut short. */
  const answersToInput = async () => {
    await endOfInput;
    await withTimeout(unanswered.allAnswered(), WAIT_LIMIT_MS);
    await shutdown.close();
    subscriptions.close();
    await withTimeout(unanswered.allAnswered(), ANSWER_LIMIT_MS);
  };
  try {
    await Promise.race([
      answersToInput(),
      signalled(),
      failureOf(stack),
      endOfKey(authentication, guard.caller, logger),
    ]);
  } catch (error) {
    engine.temporal.stopWaiting();
    throw error;
  } finally {
    process.stdin.pause();
    await shutdown.close();
    subscriptions.close();
    await legacy.close();
  }
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}

/** Resolves when the user's key expires or is revoked. */
function endOfKey(authentication: Authentication, caller: Caller, logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    authentication.hold(caller, () => {
      logger.error('the API key has expired or was revoked');
      resolve();
    });
  });
}

function failureOf(stack: Promise<void>): Promise<never> {
  return new Promise((_resolve, reject) => void stack.catch(reject));
}

/** Whether messages are a legacy client's: its first one lacks 2026-07-28's `_meta`. A `server/discover` probe doesn't decide. */
function legacyDetector(): (message: JSONRPCMessage) => boolean {
  let isLegacy: boolean | undefined;
  return (message) => {
    if (isLegacy === undefined && 'method' in message) {
      const isCurrent = message.params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined;
      if (!isCurrent) isLegacy = true;
      else if (message.method !== 'server/discover') isLegacy = false;
    }
    return isLegacy === true;
  };
}

/** Subscriptions of 2026-07-28, which the SDK doesn't handle. */
class OpenSubscriptions {
  readonly #open = new Map<RequestId, AbortController>();

  constructor(
    private readonly subscriptions: Subscriptions,
    private readonly engine: Guard,
    private readonly send: Transport['send'],
    private readonly logger: Logger,
  ) {}

  async listen(request: JSONRPCRequest): Promise<void> {
    const cancelled = new AbortController();
    this.#open.set(request.id, cancelled);
    try {
      const serve = await this.subscriptions.open(request, this.engine);
      await serve({ send: (message) => this.send(message), signal: cancelled.signal });
    } catch (error) {
      if (!(error instanceof ProtocolError)) this.logger.error({ err: error }, 'a subscription failed');
      await this.send({ jsonrpc: '2.0', id: request.id, error: rpcErrorOf(error) });
    } finally {
      this.#open.delete(request.id);
    }
  }

  /** @returns whether there is a subscription of this ID */
  cancel(id: RequestId): boolean {
    this.#open.get(id)?.abort();
    return this.#open.has(id);
  }

  cancelAll(): void {
    for (const one of this.#open.values()) one.abort();
  }

  /** Ends all subscriptions, with an answer. */
  close(): void {
    this.subscriptions.close();
  }
}
