/** Turns of one queue: who runs, who waits, and the answers that are to be sent. Pure: the workflow has the clock and the sends. */
import { humanDuration } from '../../operations/budgets.js';
import { due, inOrder } from '../../operations/fair-order.js';
import { queueFullMessage } from '../../operations/queue-messages.js';
import {
  LISTED_PLACES,
  QUEUE_FULL,
  QUEUE_TIMEOUT,
  type AddressedNotice,
  type Places,
  type QueueState,
  type Refusal,
  type TurnNotice,
  type TurnRequest,
} from '../../operations/queue-wire.js';
import type { ToolQueue } from '../../operations/tool-queue.js';

/** Holders that a check looks at. */
const CHECKED_HOLDERS = 50;
/** Waiting operations that a check looks at, from the next one on. */
const CHECKED_WAITING = 10;

export class Turns {
  /** Answers to be sent, by workflow ID. */
  #notices = new Map<string, TurnNotice>();

  constructor(
    private readonly name: string,
    readonly state: QueueState,
  ) {}

  /** Adds an operation, or answers it again. Limits are those of the latest request: authors edit them. */
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
      const before = state.waiting.findLastIndex((one) => one.createdAtMs <= createdAtMs);
      const entry = { id, principal, createdAtMs, ...(priority === undefined ? {} : { priority }), until };
      state.waiting.splice(before + 1, 0, entry);
    }
    this.#grant();
    if (!isNew || hasRoom || !isWaiting()) return;
    state.waiting = state.waiting.filter((one) => one.id !== id);
    this.#refuse(id, QUEUE_FULL, this.#fullMessage(principal));
  }

  /** Removes an operation that has ended, or no longer waits. */
  remove(id: string): void {
    const { state } = this;
    this.#notices.delete(id);
    state.running = state.running.filter((one) => one.id !== id);
    state.waiting = state.waiting.filter((one) => one.id !== id);
    this.#grant();
  }

  /** Refuses those that have waited for too long. */
  expire(nowMs: number): void {
    const late = this.state.waiting.filter(({ until }) => until <= nowMs);
    if (late.length === 0) return;
    this.state.waiting = this.state.waiting.filter(({ until }) => until > nowMs);
    const waited = humanDuration(this.state.limits.waitSeconds);
    for (const { id } of late)
      this.#refuse(id, QUEUE_TIMEOUT, `its turn in the queue ${this.name} did not come within ${waited}`);
  }

  /** Takes the answers that are to be sent. */
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

  /** When the first one that waits stops waiting, in epoch milliseconds; undefined while none waits. */
  get nextExpiryMs(): number | undefined {
    const { waiting } = this.state;
    return waiting.length === 0 ? undefined : Math.min(...waiting.map(({ until }) => until));
  }

  /** Workflow IDs that a check looks at; other holders in the next one. */
  takeToCheck(): string[] {
    const { state } = this;
    const holders = state.running.slice(0, CHECKED_HOLDERS);
    state.running = [...state.running.slice(holders.length), ...holders];
    const next = inOrder(state).slice(0, CHECKED_WAITING);
    return [...holders, ...next.map(({ entry }) => entry)].map(({ id }) => id);
  }

  places(): Places {
    const { running, waiting } = this.state;
    const order = inOrder(this.state).slice(0, LISTED_PLACES);
    return { running: running.length, waiting: waiting.length, order: order.map(({ entry }) => entry.id) };
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

  /** Whether another operation may wait; one of a caller that has none waiting may, or a single caller could shut others out. */
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
      state.grants += 1;
      state.lastGrants[principal] = state.grants;
      this.#notices.set(id, { isGranted: true });
    }
    const present = new Set([...state.running, ...state.waiting].map(({ principal }) => principal));
    for (const principal of Object.keys(state.lastGrants))
      if (!present.has(principal)) delete state.lastGrants[principal];
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

/** The state of a queue that nobody has asked yet. */
export function emptyQueue(): QueueState {
  const limits = { concurrency: 1, maxWaiting: 0, waitSeconds: 1 };
  return { limits, running: [], waiting: [], grants: 0, lastGrants: {} };
}
