/**
 * notifications/tasks/status and notifications/progress for the tasks of a session, on whatever stream it listens
 * (specs: 2025-11-25 basic/utilities/tasks, "Task Notifications"; basic/utilities/progress). Tasks that this process
 * started are followed at once; those of other processes are found in Temporal's lists.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { Engine } from '../../../engine/index.js';
import { LonghaulError } from '../../../operations/errors.js';
import { isTerminal, type OperationRecord } from '../../../operations/record.js';
import type { Logger } from '../../../platform/log.js';
import { isTerminalTask, renderTask, type RenderContext } from './render.js';

/** Lists are rate-limited: each listener's is read at most this often, and one after the other, in milliseconds. */
const LIST_INTERVAL_MS = 3_000;
const LIST_PAUSE_MS = 500;
/** Most tasks that one listener is told of at a time. */
const MAX_FOLLOWED = 100;

export interface Listener extends RenderContext {
  principal: string;
  session: string;
  send: (notification: { jsonrpc: '2.0'; method: string; params: Record<string, unknown> }) => Promise<void>;
  /** Fires when it listens no more. */
  signal: AbortSignal;
  /** Makes what shows one task's questions; missing for a client without elicitation. */
  questions?: () => { show(record: OperationRecord): Promise<void>; close(): void };
}

interface Following extends Listener {
  /** Tasks that it was told of. */
  tokens: Set<string>;
  /** How many of them it still is. */
  active: number;
  since: Date;
}

/** The sessions that listen to this process. */
export class TaskNotifications {
  readonly #listeners = new Map<string, Following>();
  #isListing = false;

  constructor(
    private readonly engine: Engine,
    private readonly logger: Logger,
  ) {}

  /** Tells a listener of its session's tasks until its signal fires; the latest of a session is the one that is told. */
  listen(listener: Listener): void {
    const following = { ...listener, tokens: new Set<string>(), active: 0, since: new Date() };
    this.#listeners.set(listener.session, following);
    listener.signal.addEventListener('abort', () => {
      if (this.#listeners.get(listener.session) === following) this.#listeners.delete(listener.session);
    });
    void this.#findStarted();
  }

  /** A task was started here. */
  started(session: string | undefined, token: string): void {
    const listener = session === undefined ? undefined : this.#listeners.get(session);
    if (listener) void this.#follow(listener, token);
  }

  /** Looks for tasks that other processes have started, as long as anybody listens. */
  async #findStarted(): Promise<void> {
    if (this.#isListing) return;
    this.#isListing = true;
    try {
      while (this.#listeners.size > 0) {
        for (const listener of [...this.#listeners.values()]) {
          if (listener.signal.aborted) continue;
          await this.#list(listener);
          await delay(Math.max(LIST_PAUSE_MS, LIST_INTERVAL_MS / this.#listeners.size), undefined, {
            ref: false,
          });
        }
      }
    } finally {
      this.#isListing = false;
    }
  }

  async #list(listener: Following): Promise<void> {
    try {
      const { operations } = await this.engine.list(listener.principal, {
        session: listener.session,
        limit: MAX_FOLLOWED,
      });
      for (const { token, status, closedAt } of operations) {
        const isNews = !isTerminal(status) || (closedAt !== undefined && new Date(closedAt) > listener.since);
        if (isNews) void this.#follow(listener, token);
      }
    } catch (error) {
      this.logger.debug({ reason: (error as Error).message }, "a session's tasks could not be listed");
    }
  }

  /** Tells of each change until the task is over. A task is followed once. */
  async #follow(listener: Following, token: string): Promise<void> {
    if (listener.tokens.has(token) || listener.active >= MAX_FOLLOWED) return;
    listener.tokens.add(token);
    listener.active += 1;
    const { principal, signal, send } = listener;
    const questions = listener.questions?.();
    let told = '';
    let furthest = -1;
    try {
      for await (const record of this.engine.watch(principal, token, { signal, progress: true })) {
        const task = renderTask(record, listener);
        const { progress, progressToken } = record;
        const isOver = isTerminalTask(task);
        if (!isOver && progressToken !== undefined && progress && progress.progress > furthest) {
          furthest = progress.progress;
          await send({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, ...progress },
          });
        }
        const { lastUpdatedAt: _lastUpdatedAt, ...telling } = task;
        if (JSON.stringify(telling) !== told)
          await send({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: { ...task } });
        told = JSON.stringify(telling);
        if (isOver) return;
        await questions?.show(record);
      }
    } catch (error) {
      // Purged while it was followed: there is nothing more to tell.
      if (!(error instanceof LonghaulError || error instanceof ProtocolError))
        this.logger.error({ error }, 'following a task failed');
    } finally {
      questions?.close();
      listener.active -= 1;
    }
  }
}
