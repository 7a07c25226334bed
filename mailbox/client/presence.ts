/**
 * Heartbeats of the agents that wait on this process: one timer for all of them, and a signal for each whose last heartbeat is
 * old. One more signal marks an agent as away after its last wait here. Waits that follow each other write nothing.
 */
import type { InboxMemo } from '../state.js';
import { heartbeatSignal, type Heartbeat } from '../wire.js';
import { withTimeout } from '../../platform/with-timeout.js';
import type { MailboxWorkflows } from './workflows.js';

const TICK_MS = 30_000;
/** Maximum time that shutdown waits for the signals of agents that leave with the process, in milliseconds. */
const SHUTDOWN_LIMIT_MS = 2_000;

/** A registration of an agent, until the next one of the same name. */
export interface AgentSession {
  principal: string;
  name: string;
  epoch: number;
}

/** A session that has waits on this process, or had its last one a moment ago. */
interface TrackedSession extends AgentSession {
  openWaits: number;
  /** Last heartbeat, in epoch milliseconds; absent until the inbox's memo was first read. */
  signedAt?: number;
  /** `awayAt` of the memo that was read last. */
  awayAt?: number;
  /** End of the last wait here, in epoch milliseconds. */
  leftAt?: number;
  /** Runs after the last wait. */
  timer?: NodeJS.Timeout;
}

export interface OpenWait {
  /** Called with each memo of the inbox that is read. */
  onMemo: (memo: InboxMemo) => void;
  close: () => void;
}

export interface PresenceOptions {
  heartbeatIntervalMs: number;
  /** Maximum time between two waits, in milliseconds. */
  awayAfterMs: number;
}

export class Presence {
  readonly #sessions = new Map<string, TrackedSession>();
  #tick: NodeJS.Timeout | undefined;

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly options: PresenceOptions,
  ) {}

  /** Sends the agent's heartbeats until the wait is closed. */
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

  /**
   * Sends a heartbeat for a call that is no wait, if the last one is old.
   *
   * @param memo of the agent's inbox
   */
  heartbeat(session: AgentSession, { signedAt, awayAt }: InboxMemo): void {
    if (!this.#isOld(signedAt)) return;
    const { epoch } = session;
    // The call opens no wait, so an agent that is away stays away.
    const heartbeat: Heartbeat = { epoch, ...(awayAt === undefined ? {} : { awayAt: this.#nowMs }) };
    this.#send(session, heartbeat).catch(() => undefined);
  }

  /** Marks agents without an open wait as away, because no call can follow in this process. Takes 2 s at most. */
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
    // Another process, which had its previous wait, marked the agent as away during this wait.
    const isRoaming = !isFirst && awayAt !== session.leftAt;
    this.#signalPresent(session, isRoaming ? { isRoaming } : {});
  }

  /** Sends a heartbeat if the last one is old. A failed one is retried with the next tick. */
  #renew(session: TrackedSession): void {
    if (session.openWaits === 0 || session.signedAt === undefined || !this.#isOld(session.signedAt)) return;
    this.#signalPresent(session, {});
  }

  #signalPresent(session: TrackedSession, more: Pick<Heartbeat, 'isRoaming'>): void {
    const { epoch, signedAt } = session;
    session.signedAt = this.#nowMs;
    this.#send(session, { epoch, ...more }).catch(() => {
      // Retried with the next tick, or the next memo.
      delete session.awayAt;
      if (signedAt !== undefined) session.signedAt = signedAt;
    });
  }

  /** A heartbeat in the future is old too: the clock was set back. */
  #isOld(signedAt: number): boolean {
    return Math.abs(this.#nowMs - signedAt) >= this.options.heartbeatIntervalMs;
  }

  /** Temporal's time, as in the inbox's memo, in epoch milliseconds. */
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

  /** Marks the agent as away, unless its inbox shows that it is busy, was ended, or has waits elsewhere. */
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
