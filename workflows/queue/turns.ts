/** Turns of one queue: who runs, who waits, and which answers to send. Pure: the workflow has the clock and sends. */
import { humanDuration } from '../../operations/tool/budgets.js';
import { queueFullMessage } from '../../operations/wire/queue-messages.js';
import {
  PLACES_BYTES,
  QUEUE_FULL,
  QUEUE_TIMEOUT,
  type AddressedNotice,
  type Places,
  type QueueState,
  type Refusal,
  type TurnChange,
  type TurnNotice,
  type TurnRequest,
  type Waiting,
} from '../../operations/wire/queue-wire.js';
import { firstThatFit } from '../../operations/wire/state.js';
import { PRIORITIES, type ToolQueue } from '../../operations/tool/queue.js';

const CHECKED_HOLDERS = 50;
/** Waiting operations per check, from the next one on. */
const CHECKED_WAITING = 10;
const DEFAULT_PRIORITY = (PRIORITIES.first + PRIORITIES.last) / 2;

export class Turns {
  /** Answers to send, by workflow ID. */
  #notices = new Map<string, TurnNotice>();

  constructor(
    private readonly name: string,
    readonly state: QueueState,
  ) {}

  change(changes: TurnChange[], nowMs: number): void {
    for (const change of changes) {
      if ('ask' in change) this.ask(change.ask, nowMs);
      else this.remove(change.return);
    }
  }

  /** Adds an operation, or answers it again. The latest request's limits apply, because authors edit them. */
  ask(
    { id, principal, createdAtMs, priority, queue: { name: _name, ...limits } }: TurnRequest,
    nowMs: number,
  ): void {
    const { state } = this;
    state.limits = limits;
    const hasRoom = this.#hasRoom(principal, limits.maxWaiting);
    const isWaiting = () => state.waiting.some((one) => one.id === id);
    const hasTurn = state.running.some((one) => one.id === id);
    const isNew = !hasTurn && !isWaiting();
    if (hasTurn) this.#notices.set(id, { isGranted: true });
    if (isNew) {
      const until = nowMs + limits.waitSeconds * 1000;
      const entry = { id, principal, createdAtMs, ...(priority === undefined ? {} : { priority }), until };
      state.waiting.splice(state.waiting.findLastIndex((one) => isBefore(one, entry)) + 1, 0, entry);
    }
    this.#grant();
    if (!isNew || hasRoom || !isWaiting()) return;
    state.waiting = state.waiting.filter((one) => one.id !== id);
    this.#refuse(id, QUEUE_FULL, this.#fullMessage(principal));
  }

  remove(id: string): void {
    const { state } = this;
    this.#notices.delete(id);
    state.running = state.running.filter((one) => one.id !== id);
    state.waiting = state.waiting.filter((one) => one.id !== id);
    this.#grant();
  }

  expire(nowMs: number): void {
    const late = this.state.waiting.filter(({ until }) => until <= nowMs);
    if (late.length === 0) return;
    this.state.waiting = this.state.waiting.filter(({ until }) => until > nowMs);
    const waited = humanDuration(this.state.limits.waitSeconds);
    for (const { id } of late)
      this.#refuse(id, QUEUE_TIMEOUT, `its turn in the queue ${this.name} did not come within ${waited}`);
  }

  takeNotices(): AddressedNotice[] {
    const notices = [...this.#notices].map(([id, notice]) => ({ id, notice }));
    this.#notices = new Map();
    return notices;
  }

  get hasNotices(): boolean {
    return this.#notices.size > 0;
  }

  get isEmpty(): boolean {
    return this.state.running.length + this.state.waiting.length === 0;
  }

  /** When the first waiting operation expires, in epoch milliseconds; undefined while none waits. */
  get nextExpiryMs(): number | undefined {
    const { waiting } = this.state;
    return waiting.length === 0 ? undefined : Math.min(...waiting.map(({ until }) => until));
  }

  /** Workflow IDs for a check; the next one covers other holders. */
  takeToCheck(): string[] {
    const { state } = this;
    const holders = state.running.slice(0, CHECKED_HOLDERS);
    state.running = [...state.running.slice(holders.length), ...holders];
    return [...holders, ...state.waiting.slice(0, CHECKED_WAITING)].map(({ id }) => id);
  }

  /** The next operations, as the memo shows them. */
  places(): Places {
    const ids = this.state.waiting.map(({ id }) => id);
    const order = firstThatFit(ids, PLACES_BYTES);
    return order.length < ids.length ? { order, hasMore: true } : { order };
  }

  /** Why another operation of this principal would be refused now; null if it wouldn't. Changes nothing. */
  refusal(principal: string, { name: _name, ...limits }: ToolQueue): Refusal | null {
    const { running, waiting } = this.state;
    if (this.#hasRoom(principal, limits.maxWaiting)) return null;
    const id = '';
    const state = {
      ...this.state,
      limits,
      waiting: [...waiting, { id, principal, createdAtMs: Infinity, until: 0 }],
    };
    if (due(state).some((entry) => entry.id === id)) return null;
    return {
      running: running.length,
      waiting: waiting.length,
      isCallerFull: running.length < limits.concurrency,
    };
  }

  /**
   * Whether another operation may wait. One waiter per caller may exceed `maxWaiting` unless that is 0, so no caller shuts others
   * out.
   */
  #hasRoom(principal: string, maxWaiting: number): boolean {
    const { waiting } = this.state;
    if (waiting.length < maxWaiting) return true;
    return maxWaiting > 0 && !waiting.some((one) => one.principal === principal);
  }

  #grant(): void {
    const { state } = this;
    const entries = due(state);
    if (entries.length > 0) {
      const ids = new Set(entries.map(({ id }) => id));
      state.waiting = state.waiting.filter(({ id }) => !ids.has(id));
    }
    for (const { id, principal } of entries) {
      state.running.push({ id, principal });
      this.#notices.set(id, { isGranted: true });
    }
  }

  #refuse(id: string, type: string, message: string): void {
    this.#notices.set(id, { isGranted: false, type, message });
  }

  #fullMessage(principal: string): string {
    const { running, waiting, limits } = this.state;
    const own = running.filter((one) => one.principal === principal).length;
    return queueFullMessage(this.name, {
      running: running.length,
      waiting: waiting.length,
      isCallerFull: running.length < limits.concurrency && own > 0,
    });
  }
}

/** Whether a waiting operation gets its turn before another: by priority, then first come, first served. */
function isBefore(one: Waiting, other: Waiting): boolean {
  const [own, others] = [one.priority ?? DEFAULT_PRIORITY, other.priority ?? DEFAULT_PRIORITY];
  return own < others || (own === others && one.createdAtMs <= other.createdAtMs);
}

/** Operations that are due now: the next ones, except of callers that have reached their limit. */
function due({ limits, running, waiting }: QueueState): Waiting[] {
  const { concurrency, perCaller = concurrency } = limits;
  const counts = new Map<string, number>();
  const count = (principal: string) => counts.set(principal, (counts.get(principal) ?? 0) + 1);
  for (const { principal } of running) count(principal);
  let free = concurrency - running.length;
  return waiting.filter(({ principal }) => {
    if (free <= 0 || (counts.get(principal) ?? 0) >= perCaller) return false;
    free -= 1;
    count(principal);
    return true;
  });
}

export function emptyQueue(): QueueState {
  const limits = { concurrency: 1, maxWaiting: 0, waitSeconds: 1 };
  return { limits, running: [], waiting: [] };
}
