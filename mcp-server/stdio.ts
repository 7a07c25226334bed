/** The MCP faces over standard input and output. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Engine } from '../engine/index.js';
import { ANONYMOUS } from '../operations/wire.js';
import type { Logger } from '../platform/log.js';
import { Closing } from './closing.js';
import { createCurrentServer } from './current-era/index.js';
import { Cancellations } from './faces/sep-1391/index.js';
import { Subscriptions } from './current-era/subscriptions.js';
import { batchesApart } from './older-era/batches.js';
import { createOlderEra } from './older-era/context.js';
import { OlderStdio } from './older-era/stdio.js';
import { withoutNesting } from './raw-call.js';
import { RESOURCE_LIMIT_BYTES } from './resources.js';

/** How long the first messages wait for the connection to Temporal, in milliseconds. */
const CONNECT_LIMIT_MS = 5_000;
const CONNECT_POLL_MS = 20;

/**
 * Serves until the client closes its end, or asks for the end with a signal.
 *
 * @param secret seals what travels with the client
 */
export async function serveStdioFaces(engine: Engine, secret: Buffer, logger: Logger): Promise<void> {
  await firstConnection(engine);
  const input = batchesApart((line) => older.receiveBatch(line));
  const stdio = new StdioServerTransport(process.stdin.pipe(input));
  const subscriptions = new Subscriptions(engine, ANONYMOUS);
  const closing = new Closing();
  const era = createOlderEra(engine, secret, logger, RESOURCE_LIMIT_BYTES.stdio, closing);
  const older = new OlderStdio(era, ANONYMOUS, (message) => stdio.send(message as JSONRPCMessage));
  const transport = withSubscriptions(withOlderEra(stdio, older), engine, subscriptions, logger);
  await new Promise<void>((resolve) => {
    const closed = () => {
      process.stdin.unpipe(input).pause();
      void closing
        .close()
        .then(() => subscriptions.close())
        .then(() => older.close())
        .then(resolve);
    };
    serveStdio(() => createCurrentServer(engine, ANONYMOUS, 'stdio', secret, closing), {
      legacy: 'reject',
      transport,
      onerror: (error) => logger.debug({ reason: error.message }, 'a message was refused'),
    });
    process.stdin.once('end', closed);
    process.stdin.once('close', closed);
    process.once('SIGTERM', closed);
    process.once('SIGINT', closed);
  });
}

/** A client writes its first request as the process starts; it shall not fail because the connection is a moment later. */
async function firstConnection({ temporal }: Engine): Promise<void> {
  const deadlineMs = Date.now() + CONNECT_LIMIT_MS;
  const isConnected = () =>
    temporal.facts().then(
      () => true,
      () => false,
    );
  while (!(await isConnected()) && Date.now() < deadlineMs) await delay(CONNECT_POLL_MS);
}

/**
 * A transport that takes everything of a client of the older era: one that begins without the current era's envelope. A
 * client may first ask with `server/discover` whether this server knows the current one.
 */
function withOlderEra(inner: Transport, older: OlderStdio): Transport {
  let era: 'open' | 'current' | 'older' = 'open';
  const outer: Transport = {
    start: () => inner.start(),
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  };
  inner.onmessage = (message: JSONRPCMessage, extra) => {
    if (era === 'open' && 'method' in message) {
      const isCurrent = message.params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined;
      if (!isCurrent) era = 'older';
      else if (message.method !== 'server/discover') era = 'current';
    }
    if (era === 'older') older.receive(message);
    else outer.onmessage?.(message, extra);
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => outer.onerror?.(error);
  return outer;
}

/**
 * A transport that takes `subscriptions/listen` and its cancellation, and those of operations, before the SDK sees them,
 * and passes everything else through.
 */
function withSubscriptions(
  inner: Transport,
  engine: Engine,
  subscriptions: Subscriptions,
  logger: Logger,
): Transport {
  const cancellations = new Cancellations(engine, logger);
  const open = new Map<RequestId, AbortController>();
  const listen = async (request: JSONRPCRequest) => {
    const gone = new AbortController();
    open.set(request.id, gone);
    try {
      const serve = await subscriptions.open(request);
      await serve({ send: (message) => inner.send(message), signal: gone.signal });
    } catch (error) {
      const known = error instanceof ProtocolError;
      if (!known) logger.error({ err: error }, 'a subscription failed');
      const { code, message, data } = known
        ? error
        : { code: ProtocolErrorCode.InternalError, message: 'Internal error', data: undefined };
      await inner.send({
        jsonrpc: '2.0',
        id: request.id,
        error: { code, message, ...(data === undefined ? {} : { data }) },
      });
    } finally {
      open.delete(request.id);
    }
  };
  const outer: Transport = {
    start: () => inner.start(),
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  };
  inner.onmessage = (message: JSONRPCMessage, extra) => {
    if (isJSONRPCRequest(message) && message.method === 'subscriptions/listen') {
      void listen(message);
      return;
    }
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const subscription = open.get(message.params?.['requestId'] as RequestId);
      if (subscription) {
        subscription.abort();
        return;
      }
      void cancellations.take(ANONYMOUS, undefined, message.params);
    }
    outer.onmessage?.(withoutNesting(message), extra);
  };
  inner.onclose = () => {
    for (const one of open.values()) one.abort();
    outer.onclose?.();
  };
  inner.onerror = (error) => outer.onerror?.(error);
  return outer;
}
