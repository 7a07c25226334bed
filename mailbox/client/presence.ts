/**
 * Heartbeats of agents that wait on this process. One timer serves all, and sends a signal for each agent with an old heartbeat.
 * Another signal marks an agent as away after its last wait here. Consecutive waits write nothing.
 */
import type { InboxMemo } from '../state.js';
import { heartbeatSignal, type Heartbeat } from '../wire.js';
import { withTimeout } from '../../platform/with-timeout.js';
import type { MailboxWorkflows } from './workflows.js';

const TICK_MS = 30_000;
/** How long a shutdown waits for the signals of leaving agents, in milliseconds. */
const SHUTDOWN_LIMIT_MS = 2_000;

/** An agent's registration, until the next one under its name. */
export interface AgentSession {
  principal: string;
  name: string;
  epoch: number;
}

/** A session that waits on this process, or did a moment ago. */
interface TrackedSession extends AgentSession {
  openWaits: number;
  /** Last heartbeat, in epoch milliseconds. Absent until the inbox's memo was read. */
  signedAt?: number;
  awayAt?: number;
  /** End of the last wait here, in epoch milliseconds. */
  leftAt?: number;
  timer?: NodeJS.Timeout;
}

export interface OpenWait {
  onMemo: (memo: InboxMemo) => void;
  close: () => void;
}

export interface PresenceOptions {
  heartbeatIntervalMs: number;
  /** Longest pause between two waits, in milliseconds. */
  awayAfterMs: number;
}

export class Presence {
  readonly #sessions = new Map<string, TrackedSession>();
  #tick: NodeJS.Timeout | undefined;

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly options: PresenceOptions,
  ) {}

  open({ principal, name, epoch }: AgentSession): OpenWait {
    const key = JSON.stringify([principal, name, epoch]);
    const session = this.#sessions.get(key) ?? { principal, name, epoch, openWaits: 0 };
    this.#sessions.set(key, session);
    clearTimeout(session.timer);
    session.openWaits += 1;
    this.#tick ??= setInterval(
      () => this.#sessions.forEach((one) => this.#renew(one)),
      Math.min(TICK_MS, this.options.heartbeatIntervalMs),
    ).unref();
    let isFirst = true;
    return {
      onMemo: (memo) => {
        this.#update(session, memo, isFirst);
        isFirst = false;
      },
      close: () => this.#close(key, session),
    };
  }

  /** Counts a call other than a wait as a heartbeat, if the last one is old. @param memo of the agent's inbox */
  heartbeat(session: AgentSession, { signedAt, awayAt }: InboxMemo): void {
    if (!this.#isOld(signedAt)) return;
    const { epoch } = session;
    // The call opens no wait, so an away agent stays away.
    const heartbeat: Heartbeat = { epoch, ...(awayAt === undefined ? {} : { awayAt: this.#nowMs }) };
    this.#send(session, heartbeat).catch(() => undefined);
  }

  /** Marks agents without an open wait as away, because this process takes no further call. Takes at most 2 s. */
  async shutdown(): Promise<void> {
    const left = [...this.#sessions].filter(([, { openWaits }]) => openWaits === 0);
    const signals = left.map(([key, session]) => this.#signalAway(key, session));
    await withTimeout(Promise.all(signals), SHUTDOWN_LIMIT_MS);
  }

  #update(session: TrackedSession, { signedAt, awayAt }: InboxMemo, isFirst: boolean): void {
    session.signedAt ??= signedAt;
    const isNew = awayAt !== undefined && awayAt !== session.awayAt;
    session.awayAt = awayAt;
    if (!isNew) return this.#renew(session);
    // During this wait, the process with the previous wait marked the agent as away.
    const isRoaming = !isFirst && awayAt !== session.leftAt;
    this.#signalPresent(session, isRoaming ? { isRoaming } : {});
  }

  /** Sends a heartbeat if the last one is old. The next tick retries a failed one. */
  #renew(session: TrackedSession): void {
    if (session.openWaits === 0 || session.signedAt === undefined || !this.#isOld(session.signedAt)) return;
    this.#signalPresent(session, {});
  }

  #signalPresent(session: TrackedSession, more: Pick<Heartbeat, 'isRoaming'>): void {
    const { epoch, signedAt } = session;
    session.signedAt = this.#nowMs;
    this.#send(session, { epoch, ...more }).catch(() => {
      // The next tick, or the next memo, retries it.
      delete session.awayAt;
      if (signedAt !== undefined) session.signedAt = signedAt;
    });
  }

  /** A heartbeat in the future counts as old: the clock was set back. */
  #isOld(signedAt: number): boolean {
    return Math.abs(this.#nowMs - signedAt) >= this.options.heartbeatIntervalMs;
  }

  /** Temporal's time, which inbox memos use too, in epoch milliseconds. */
  get #nowMs(): number {
    return this.workflows.temporal.time.nowMs;
  }

  #close(key: string, session: TrackedSession): void {
    session.openWaits -= 1;
    if (session.openWaits > 0) return;
    session.leftAt = this.#nowMs;
    const signalAway = () => void this.#signalAway(key, session);
    session.timer = setTimeout(signalAway, this.options.awayAfterMs).unref();
  }

  /** Marks the agent as away, unless its inbox shows that it is busy, ended or waiting elsewhere. */
  async #signalAway(key: string, session: TrackedSession): Promise<void> {
    clearTimeout(session.timer);
    const { principal, name, epoch, leftAt: awayAt } = session;
    try {
      const memo = await this.workflows.describeInbox(principal, name);
      const isBusy = memo?.leaseUntil !== undefined;
      const isKnown = memo?.epoch !== epoch || memo.isBye || memo.isRoaming || memo.awayAt !== undefined;
      if (session.openWaits > 0 || isBusy || isKnown || awayAt === undefined) return;
      await this.#send(session, { epoch, awayAt });
    } catch {
      // The agent counts as gone once its last heartbeat is old.
    } finally {
      if (session.openWaits === 0) this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#sessions.delete(key);
    if (this.#sessions.size > 0) return;
    clearInterval(this.#tick);
    this.#tick = undefined;
  }

  #send({ principal, name }: AgentSession, heartbeat: Heartbeat): Promise<void> {
    return this.workflows.signalInbox(principal, name, heartbeatSignal, heartbeat);
  }
}
