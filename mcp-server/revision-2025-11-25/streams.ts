/**
 * Streams that a GET opens: a session's own stream for notifications, or a waiting call's resumed stream, whichever process served
 * it before (specs: 2025-11-25 basic/transports, "Resumability and Redelivery").
 */
import { once } from 'node:events';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Context } from 'hono';
import type { SSEStreamingApi } from 'hono/streaming';
import { DeliveredJobs } from '../two-stage/delivered-jobs.js';
import { eventStream } from '../http/event-stream.js';
import {
  type LegacyContext,
  linkTransformOf,
  type CallStream,
  type EventPosition,
  type SessionStreamPosition,
} from './context.js';
import { resumableStream, RETRY_MS } from './exchange.js';
import { notifySession } from './session-notifications.js';
import { taskResult } from './tasks/handlers.js';
import { waitOn, withCallContext } from './plain-waits.js';
import { featuresOf, type Session } from './session.js';
import { asTaskError, rpcErrorOf } from '../call/protocol-error.js';

interface OpenStream {
  session: string;
  /** The request of a resumed stream. Missing for a session's own stream. */
  requestId?: RequestId;
  end: AbortController;
  /** Sends a last event ID that marks the request as over, so the client doesn't reconnect. */
  onCancel?: () => void;
}

export class OpenStreams {
  readonly #open = new Set<OpenStream>();

  /**
   * Opens a session's own stream, which replaces an earlier one that the client has lost. If the session uses two-stage returns,
   * its events have IDs, so each result is sent once.
   *
   * @param position of the stream to resume, from Last-Event-ID
   */
  listen(c: Context, context: LegacyContext, session: Session, position?: SessionStreamPosition): Response {
    for (const stream of this.#open)
      if (stream.session === session.nonce && stream.requestId === undefined) stream.end.abort();
    return this.#serve(c, { session: session.nonce, end: new AbortController() }, async (sse, signal) => {
      const delivered = new DeliveredJobs(() => context.engine.heardNowMs, position?.jobs);
      const id = () =>
        session.twoStage
          ? { id: context.sessionEvents.seal({ session: session.nonce, jobs: delivered.position }) }
          : {};
      const send = (message: JSONRPCMessage) =>
        sse.writeSSE({ ...id(), event: 'message', data: JSON.stringify(message) });
      if (session.twoStage && featuresOf(session.version).emptyEvents)
        await sse.write(`id: ${id().id}\nretry: ${RETRY_MS}\ndata: \n\n`);
      notifySession(context, session, send, signal, delivered);
      if (!signal.aborted) await once(signal, 'abort');
    });
  }

  /** Resumes a call's wait. The stream ends with the response. */
  resume(c: Context, context: LegacyContext, session: Session, position: EventPosition): Response {
    const { requestId } = position;
    const open: OpenStream = { session: session.nonce, requestId, end: new AbortController() };
    return this.#serve(c, open, async (sse, signal) => {
      const stream = resumableStream(context, session, sse, { ...position }, signal);
      open.onCancel = () => {
        stream.position.isOver = true;
        stream.mark();
      };
      stream.mark();
      await context.shutdown.track(respond(context, session, stream));
    });
  }

  cancel(session: Session, requestId: RequestId): void {
    for (const stream of this.#open) {
      if (stream.session !== session.nonce || stream.requestId !== requestId) continue;
      stream.onCancel?.();
      stream.end.abort();
    }
  }

  close(): void {
    for (const stream of this.#open) stream.end.abort();
  }

  #serve(
    c: Context,
    open: OpenStream,
    serve: (sse: SSEStreamingApi, signal: AbortSignal) => Promise<void>,
  ): Response {
    return eventStream(c, async (sse, disconnected) => {
      this.#open.add(open);
      disconnected.addEventListener('abort', () => open.end.abort());
      try {
        // Sent at once, so clients and proxies see an open stream.
        await sse.write(': open\n\n');
        await serve(sse, open.end.signal);
      } finally {
        open.end.abort();
        this.#open.delete(open);
      }
    });
  }
}

async function respond(context: LegacyContext, session: Session, stream: CallStream): Promise<void> {
  const response = await responseOf(context, session, stream);
  if (!response || stream.signal.aborted) return;
  if ('error' in response) stream.position.isOver = true;
  await stream.send(response);
}

async function responseOf(
  context: LegacyContext,
  session: Session,
  stream: CallStream,
): Promise<JSONRPCMessage | undefined> {
  const { requestId, wait } = stream.position;
  try {
    if (!wait) {
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        'the connection broke before the server could report the outcome of the call; if it was started, operation_list shows it',
      );
    }
    const result = await withCallContext(context, session, stream, async (caller) =>
      wait.kind === 'task'
        ? taskResult(context.engine, wait.token, caller, session)
        : waitOn(context.engine, wait, caller),
    );
    return result && { jsonrpc: '2.0', id: requestId, result: linkTransformOf(context, session)(result) };
  } catch (error) {
    const known = asTaskError(error);
    if (!(known instanceof ProtocolError))
      context.logger.error({ err: error }, 'a wait could not be resumed');
    return { jsonrpc: '2.0', id: requestId, error: rpcErrorOf(known) };
  }
}
