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
  workflows: MailboxWorkflows;
  name: string;
  epoch: number;
  /** Unique in this process. */
  key: string;
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

  constructor(private readonly options: PresenceOptions) {}

  open(agent: AgentSession): OpenWait {
    const session = this.#sessions.get(agent.key) ?? { ...agent, openWaits: 0 };
    this.#sessions.set(agent.key, session);
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
      close: () => this.#close(session),
    };
  }

  /** Counts a call other than a wait as a heartbeat, if the last one is old. @param memo of the agent's inbox */
  heartbeat(session: AgentSession, { signedAt, awayAt }: InboxMemo): void {
    if (!this.#isOld(session, signedAt)) return;
    // The call opens no wait, so an away agent stays away.
    send(session, awayAt === undefined ? {} : { awayAt: nowMs(session) }).catch(() => undefined);
  }

  /** Marks agents without an open wait as away, because this process takes no further call. Takes at most 2 s. */
  async shutdown(): Promise<void> {
    const left = [...this.#sessions.values()].filter(({ openWaits }) => openWaits === 0);
    const signals = left.map((session) => this.#signalAway(session));
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
    const { openWaits, signedAt } = session;
    if (openWaits > 0 && signedAt !== undefined && this.#isOld(session, signedAt))
      this.#signalPresent(session, {});
  }

  #signalPresent(session: TrackedSession, more: Pick<Heartbeat, 'isRoaming'>): void {
    const { signedAt } = session;
    session.signedAt = nowMs(session);
    send(session, more).catch(() => {
      // The next tick, or the next memo, retries it.
      delete session.awayAt;
      if (signedAt !== undefined) session.signedAt = signedAt;
    });
  }

  /** A heartbeat in the future counts as old: the clock was set back. */
  #isOld(session: AgentSession, signedAt: number): boolean {
    return Math.abs(nowMs(session) - signedAt) >= this.options.heartbeatIntervalMs;
  }

  #close(session: TrackedSession): void {
    session.openWaits -= 1;
    if (session.openWaits > 0) return;
    session.leftAt = nowMs(session);
    const signalAway = () => void this.#signalAway(session);
    session.timer = setTimeout(signalAway, this.options.awayAfterMs).unref();
  }

  /** Marks the agent as away, unless its inbox shows that it is busy, ended or waiting elsewhere. */
  async #signalAway(session: TrackedSession): Promise<void> {
    clearTimeout(session.timer);
    const { workflows, name, epoch, leftAt: awayAt } = session;
    try {
      const memo = await workflows.inbox(name).describe();
      const isBusy = memo?.leaseUntil !== undefined;
      const isKnown = memo?.epoch !== epoch || memo.isBye || memo.isRoaming || memo.awayAt !== undefined;
      if (session.openWaits > 0 || isBusy || isKnown || awayAt === undefined) return;
      await send(session, { awayAt });
    } catch {
      // The agent counts as gone once its last heartbeat is old.
    } finally {
      if (session.openWaits === 0) this.#forget(session);
    }
  }

  #forget({ key }: TrackedSession): void {
    this.#sessions.delete(key);
    if (this.#sessions.size > 0) return;
    clearInterval(this.#tick);
    this.#tick = undefined;
  }
}

/** Temporal's time, which inbox memos use too, in epoch milliseconds. */
function nowMs({ workflows }: AgentSession): number {
  return workflows.temporal.time.nowMs;
}

function send({ workflows, name, epoch }: AgentSession, heartbeat: Omit<Heartbeat, 'epoch'>): Promise<void> {
  return workflows.inbox(name).signal(heartbeatSignal, { epoch, ...heartbeat });
}
