/**
 * notifications/cancelled for the call that started an operation cancels the operation, even long after the call was answered. The
 * call's ID is stored with the operation and found in Temporal's lists, which lag by seconds. Each process also remembers its own
 * latest calls.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Guard } from '../guard.js';
import { LonghaulError } from '../../operations/errors.js';
import type { Logger } from '../../platform/observe/log.js';
import { operationTokenOf } from '../json/message-problem.js';
import { isOperation } from './render.js';

type RequestId = string | number;

const MAX_REMEMBERED_CALLS = 1_000;
/** Delays between searches for an operation that isn't listed yet, in milliseconds. */
const SEARCH_DELAYS_MS = [0, 500, 1_000, 2_000, 4_000, 8_000, 15_000];
const PAGE_OPERATIONS = 100;
const MAX_PAGES = 20;

export class Cancellations {
  /** Token by call. Resolves to undefined for a call that started nothing. */
  readonly #calls = new LRUCache<string, Promise<string | undefined>>({ max: MAX_REMEMBERED_CALLS });

  constructor(
    private readonly logger: Logger,
    /** Whether call IDs are stored with operations, so other processes can find them. Default: true. */
    private readonly areStored = true,
  ) {}

  /** Remembers a call before it starts an operation. */
  track<T>(
    session: string,
    requestId: RequestId,
    start: (started: (token: string) => void) => Promise<T>,
  ): Promise<T> {
    let settle: (token: string | undefined) => void = () => undefined;
    const known = new Promise<string | undefined>((resolve) => (settle = resolve));
    this.#calls.set(callKey(session, requestId), known);
    return start(settle).finally(() => settle(undefined));
  }

  /**
   * Handles the notification. Resolves once an operation known to this process is cancelled. Others are cancelled as soon as they
   * are found.
   *
   * @param session scope of the client's operations. If undefined, `params` must have the token
   * @param params of the notification
   */
  async take(engine: Guard, session: string | undefined, params: unknown): Promise<void> {
    const { requestId, reason } = (params ?? {}) as { requestId?: RequestId; reason?: unknown };
    const why = typeof reason === 'string' && reason ? reason : 'notifications/cancelled';
    const token = operationTokenOf(params);
    try {
      if (token !== undefined) return await this.#cancelCalled(engine, token, requestId, why);
      if (session === undefined || requestId === undefined) return;
      const call = this.#calls.get(callKey(session, requestId));
      if (call) {
        const started = await call;
        if (started !== undefined) await engine.cancel(started, why);
        return;
      }
    } catch (error) {
      this.#log(error);
      return;
    }
    void this.#cancelListed(engine, session, requestId, why).catch((error: unknown) => this.#log(error));
  }

  /** Cancels only operations of this protocol. With a request ID, only the operation that this call started. */
  async #cancelCalled(
    engine: Guard,
    token: string,
    requestId: RequestId | undefined,
    why: string,
  ): Promise<void> {
    const record = await engine.read(token);
    if (!isOperation(record) || (requestId !== undefined && requestId !== record.requestId)) return;
    await engine.cancel(token, why);
  }

  async #cancelListed(engine: Guard, session: string, requestId: RequestId, why: string): Promise<void> {
    for (const pauseMs of SEARCH_DELAYS_MS) {
      await delay(pauseMs, undefined, { ref: false });
      // The notification may have overtaken its call.
      const token =
        (await this.#calls.get(callKey(session, requestId))) ??
        (this.areStored ? await this.#find(engine, session, requestId) : undefined);
      if (token === undefined) continue;
      await engine.cancel(token, why);
      return;
    }
  }

  async #find(engine: Guard, session: string, requestId: RequestId): Promise<string | undefined> {
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { operations, nextCursor } = await engine.list({
        session,
        limit: PAGE_OPERATIONS,
        cursor,
      });
      const found = operations.find((operation) => operation.requestId === requestId);
      if (found || nextCursor === undefined) return found?.token;
      cursor = nextCursor;
    }
    return undefined;
  }

  #log(error: unknown): void {
    const isKnown = error instanceof LonghaulError;
    if (isKnown && error.kind === 'not_found') return;
    this.logger.warn(
      { reason: (error as Error).message },
      'the operation of a cancelled call could not be looked up',
    );
  }
}

function callKey(session: string, requestId: RequestId): string {
  return JSON.stringify([session, requestId]);
}
