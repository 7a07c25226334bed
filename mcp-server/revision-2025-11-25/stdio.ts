/** stdio: one SDK Server for the connection, created when the client sends `initialize`. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type InitializeRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isKind } from '../../operations/errors.js';
import { Batches, prepareMessage, parseBatch } from './messages.js';
import type { LegacyContext } from './context.js';
import { notifySession } from './session-notifications.js';
import { takeResponse } from './questions.js';
import { createLegacyServer } from './server.js';
import { featuresOf, newSession, parseInitialize, scopeOf, type Session } from './session.js';

export class LegacyStdio {
  readonly #gone = new AbortController();
  #session: Session | undefined;
  #server: Server | undefined;
  #transport: Transport | undefined;
  /** Tail of the queue. Messages are dispatched in order, but their work runs concurrently. */
  #last: Promise<void> = Promise.resolve();
  readonly #batches: Batches;

  /** @param sendOut writes a message, or a batch of them */
  constructor(
    private readonly context: LegacyContext,
    private readonly sendOut: (message: JSONRPCMessage | JSONRPCMessage[]) => Promise<void>,
  ) {
    this.#batches = new Batches(sendOut);
  }

  receive(message: JSONRPCMessage): void {
    void this.#enqueue(() => this.#receive(message));
  }

  /** @returns false if the batch was refused as a whole */
  async receiveBatch(batch: unknown[]): Promise<boolean> {
    let isAccepted = false;
    await this.#enqueue(async () => {
      const messages =
        this.#session && featuresOf(this.#session.version).batches ? parseBatch(batch) : undefined;
      if (!messages) {
        return this.#sendError(
          null,
          ProtocolErrorCode.InvalidRequest,
          'Invalid Request: not a batch that can be accepted here',
        );
      }
      isAccepted = true;
      this.#batches.add(messages);
      for (const message of messages) await this.#receive(message);
    });
    return isAccepted;
  }

  /** @returns resolves once the message has been dispatched */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last
      .then(work)
      .catch((error: unknown) => this.context.logger.error({ err: error }, 'a message could not be handled'));
    return this.#last;
  }

  readonly #send = (message: JSONRPCMessage): Promise<void> => this.#batches.pass(message);

  async close(): Promise<void> {
    this.#gone.abort();
    await this.#server?.close();
  }

  async #receive(message: JSONRPCMessage): Promise<void> {
    if (!this.#session) {
      if (isJSONRPCRequest(message)) await this.#open(message);
      return;
    }
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      // Not queued: a queued request may be waiting for this answer.
      const taken = takeResponse(this.context, this.#session, message);
      void this.context.shutdown.track(taken).catch((error: unknown) => this.#refuse(error));
      return;
    }
    // The SDK would answer one that doesn't match its schema with -32603.
    const isInitialize = isJSONRPCRequest(message) && message.method === 'initialize';
    if (isInitialize && !(await this.#parseInitialize(message))) return;
    this.#transport?.onmessage?.(prepareMessage(this.#session, message));
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
      if (requestId !== undefined) await this.#batches.settle(requestId);
      const { engine, cancellations, shutdown } = this.context;
      if (this.#session.asyncTools)
        void shutdown.track(cancellations.take(engine, scopeOf(this.#session, 'operations'), message.params));
    }
  }

  /** Reports an answer that wasn't accepted. A response has no response, so the error has no ID. */
  async #refuse(error: unknown): Promise<void> {
    if (isKind(error, 'invalid_answer'))
      await this.#sendError(null, ProtocolErrorCode.InvalidParams, error.message);
    else this.context.logger.warn({ err: error }, 'an answer was lost; its question stays open');
  }

  #sendError(id: RequestId | null, code: number, message: string): Promise<void> {
    return this.sendOut({ jsonrpc: '2.0', id, error: { code, message } } as unknown as JSONRPCMessage);
  }

  /** @returns undefined if the request was refused */
  async #parseInitialize(request: JSONRPCRequest): Promise<InitializeRequest | undefined> {
    try {
      return parseInitialize(request);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      await this.#sendError(request.id, error.code, error.message);
      return undefined;
    }
  }

  /** The first request must be initialize. Pings may precede it (specs: 2025-11-25 basic/lifecycle, "Initialization"). */
  async #open(request: JSONRPCRequest): Promise<void> {
    const { id, method } = request;
    if (method === 'ping') return this.#send({ jsonrpc: '2.0', id, result: {} });
    if (method !== 'initialize')
      return this.#sendError(id, ProtocolErrorCode.InvalidRequest, 'Invalid Request: initialize comes first');
    const initialize = await this.#parseInitialize(request);
    if (!initialize) return;
    const session = await newSession(this.context.engine, initialize);
    this.#server = createLegacyServer(this.context, session, ({ requestId, signal, _meta }) => ({
      signal,
      position: { requestId, progressToken: _meta?.progressToken },
      send: this.#send,
      // A stdio stream ends with its process, so it can't be resumed.
      mark: () => undefined,
    }));
    this.#transport = { start: async () => undefined, close: async () => undefined, send: this.#send };
    await this.#server.connect(this.#transport);
    this.#session = session;
    notifySession(this.context, session, this.#send, this.#gone.signal);
    this.#transport.onmessage?.(request);
  }
}
