/** Waiting for work within a call. */
import type { MailboxToolName } from '../tool-names.js';
import type { ReceiveResult } from '../types.js';
import type { Guard } from '../../mcp-server/guard.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { PlainStatus } from '../../operations/status-names.js';
import type { CallContext } from '../../mcp-server/call/call-context.js';
import { onHeartbeat } from '../../mcp-server/http/event-stream.js';
import { longestWaitSeconds } from '../../mcp-server/call/known-clients.js';
import { isOver, plainStatus } from '../../mcp-server/plain/envelope/status.js';
import { waitFor } from '../../mcp-server/plain/wait.js';
import type { MailboxCaller } from './mailbox-tool.js';

/** Default waits, in seconds: while messages flow, after the first wait that timed out, and from then on. */
const SHORT_SECONDS = 5;
const MIDDLE_SECONDS = 30;
export const LONG_SECONDS = 60;
/** The result is sent 5%, at most 1 s, before the caller's time-out, so it arrives in time. */
const EARLY_SHARE = 0.05;
const EARLY_MS = 1_000;

/** Arguments that the tools that wait share. */
export interface WaitArguments {
  agent_id: string;
  /** A received message that gets no response. */
  ack?: string;
  /** Lease on the received message. Default: 900. */
  lease_seconds?: number;
  /** Default: depends on the time since the last message. */
  timeout_seconds?: number;
}

/**
 * Waits for a message, the end of one of the operations, or the time-out. Keeps no state, so any process can continue the wait.
 *
 * @throws LonghaulError `not_found` for an unknown agent, `unavailable`
 */
export async function waitForWork(
  engine: MailboxCaller,
  callContext: CallContext,
  { agent_id, ack, lease_seconds, timeout_seconds }: WaitArguments,
  operations: OperationRecord[],
): Promise<WaitResult> {
  const { shutdown } = callContext;
  const watch = new OperationsWatch(engine.guard, callContext, operations);
  const waiting = reportWaiting(callContext);
  try {
    const received = await engine.mailbox.receive(engine.principal, agent_id, {
      // An operation that has already ended must not suppress messages.
      timeoutMs: watch.hasEnded ? 0 : timeoutOf(callContext, timeout_seconds),
      signal: AbortSignal.any([
        callContext.signal,
        shutdown.signal,
        ...(watch.hasEnded ? [] : [watch.signal]),
      ]),
      ack,
      leaseSeconds: lease_seconds,
    });
    return resultOf(engine, callContext, agent_id, received, watch);
  } finally {
    waiting.end();
    watch.stop();
  }
}

function resultOf(
  engine: MailboxCaller,
  { signal, shutdown }: CallContext,
  agentId: string,
  received: ReceiveResult,
  { hasEnded, ended }: OperationsWatch,
): WaitResult {
  switch (received.kind) {
    case 'message':
      // The client disconnected meanwhile. Its next wait receives the message, so this must not count as a delivery.
      if (signal.aborted)
        void engine.mailbox.release(engine.principal, agentId, received.message).catch(() => undefined);
      return { ...renderMessage(received), ...(hasEnded ? { ops: ended } : {}) };
    case 'gone':
      return { gone: true };
    case 'bye':
      return { bye: true };
    default:
      if (hasEnded) return { ops: ended };
      return shutdown.hasBegun ? CALL_AGAIN : NO_WORK;
  }
}

/** Lets another process continue the wait with this call. */
export function continueBy(
  { onContinuation }: CallContext,
  tool: MailboxToolName,
  args: Record<string, unknown>,
  timeoutSeconds: number = LONG_SECONDS,
): void {
  onContinuation?.({ tool, args, timeoutArgument: 'timeout_seconds', timeoutSeconds });
}

export interface WaitProgress {
  /** Sends a message, if the caller accepts progress. */
  report: (message: string) => void;
  end: () => void;
}

/** Sends progress with each heartbeat, if the caller accepts it. */
export function reportWaiting({ onProgress }: CallContext): WaitProgress {
  if (!onProgress) return { report: () => undefined, end: () => undefined };
  const startedMs = performance.now();
  let latest = 0;
  const send = (seconds: number, more: { message?: string }) => {
    // Progress has to increase with each notification.
    latest = Math.max(seconds, latest + 0.001);
    onProgress({ progress: latest, ...more }).catch(() => undefined);
  };
  const elapsedMs = () => performance.now() - startedMs;
  return {
    report: (message) => send(elapsedMs() / 1000, { message }),
    end: onHeartbeat(() => send(Math.round(elapsedMs() / 1000), {})),
  };
}

/** The requested time, or else longer the longer no message came. The client's limit is the maximum. */
function timeoutOf(
  { clientName }: CallContext,
  seconds: number | undefined,
): number | ((quietMs: number) => number) {
  if (seconds !== undefined) return timeoutMsOf(seconds);
  const limitSeconds = longestWaitSeconds(clientName);
  return (quietMs) => Math.min(adaptiveSeconds(quietMs / 1000), limitSeconds) * 1000;
}

function adaptiveSeconds(quietSeconds: number): number {
  if (quietSeconds < SHORT_SECONDS) return SHORT_SECONDS;
  return quietSeconds < MIDDLE_SECONDS ? MIDDLE_SECONDS : LONG_SECONDS;
}

/** Default wait for responses and unseen messages, in seconds. */
export function defaultSeconds({ clientName }: CallContext): number {
  return Math.min(LONG_SECONDS, longestWaitSeconds(clientName));
}

export function timeoutMsOf(seconds: number): number {
  const ms = seconds * 1000;
  return ms - Math.min(EARLY_MS, ms * EARLY_SHARE);
}

/**
 * No message: `{nw: true}`. A message: its `id` and text `m`. `from` and `mode` appear if they differ from the message acknowledged
 * last in this session. `ctx`, `re` (the message that it responds to) and `again` (delivered before) appear if they apply.
 */
export type WaitResult =
  | { nw: true; again?: 1 }
  | {
      id: string;
      from?: string | null;
      mode?: string;
      m: string;
      ctx?: unknown;
      re?: string;
      again?: 1;
      ops?: EndedOperations;
    }
  | { ops: EndedOperations }
  | { gone: true }
  | { bye: true };

const NO_WORK: WaitResult = { nw: true };
/** The server is stopping: the agent's next call reaches another one. */
const CALL_AGAIN: WaitResult = { nw: true, again: 1 };

function renderMessage({
  message,
  previous,
}: ReceiveResult & { kind: 'message' }): WaitResult & { id: string } {
  const { messageId, from, mode, content, context, responseTo, delivery } = message;
  return {
    id: messageId,
    ...(from === previous?.from ? {} : { from: from ?? null }),
    ...(mode === previous?.mode ? {} : { mode }),
    m: content,
    ctx: context,
    re: responseTo,
    ...(delivery > 1 ? { again: 1 } : {}),
  };
}

/** Maximum time of a watch, in seconds: longer than any wait. */
const WATCH_SECONDS = 24 * 3600;

/** @throws LonghaulError `not_found`, `unavailable` */
export function readOperations(engine: Guard, tokens: string[] = []): Promise<OperationRecord[]> {
  return Promise.all([...new Set(tokens)].map((token) => readOperation(engine, token)));
}

async function readOperation(engine: Guard, token: string): Promise<OperationRecord> {
  try {
    return await engine.read(token);
  } catch (error) {
    if (!isKind(error, 'not_found')) throw error;
    throw new LonghaulError('not_found', `also: there is no operation ${JSON.stringify(token)}`);
  }
}

/** Statuses of ended operations, and of those that require input, by token. Values as in operation_get. */
type EndedOperations = Record<string, PlainStatus>;

/** Watches operations whose end also ends an agent's wait. */
class OperationsWatch {
  readonly ended: EndedOperations = {};
  readonly #hasEnded = new AbortController();
  readonly #stopped = new AbortController();

  constructor(engine: Guard, { shutdown }: CallContext, records: OperationRecord[]) {
    for (const record of records) this.#record(record);
    if (this.hasEnded) return;
    const { signal } = this.#stopped;
    for (const record of records)
      void waitFor(engine, record, WATCH_SECONDS, { shutdown, signal }).then(
        ({ record: seen }) => this.#record(seen),
        // An unreadable operation doesn't end the wait. The agent's next call reports the error.
        () => undefined,
      );
  }

  get signal(): AbortSignal {
    return this.#hasEnded.signal;
  }

  get hasEnded(): boolean {
    return this.#hasEnded.signal.aborted;
  }

  stop(): void {
    this.#stopped.abort();
  }

  #record(record: OperationRecord): void {
    const status = plainStatus(record);
    if (!isOver(status) && status !== 'input_required') return;
    this.ended[record.token] = status;
    this.#hasEnded.abort();
  }
}
