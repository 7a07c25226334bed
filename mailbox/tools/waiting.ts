/** Waiting for work within a call. */
import type { Engine } from '../../engine/index.js';
import type { ReceiveResult } from '../types.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Caller } from '../../mcp-server/shared/caller.js';
import { onHeartbeat } from '../../mcp-server/lifecycle/heartbeat.js';
import { longestWaitSeconds } from '../../mcp-server/shared/known-clients.js';
import { OperationsWatch } from './operations.js';
import { COME_BACK, NO_WORK, renderMessage, type Answer } from './reply.js';

/** Waits in seconds: while messages flow, after the first that was in vain, and from then on. */
const SHORT_SECONDS = 5;
const MIDDLE_SECONDS = 30;
export const LONG_SECONDS = 60;
/** An answer leaves by so much before the caller's time-out, so that it is there in time: 5%, at most 1 s. */
const EARLY_SHARE = 0.05;
const EARLY_MS = 1_000;

export interface WaitRequest {
  agentId: string;
  /** Message that was received and needs no response. */
  ack?: string | undefined;
  /** Operations that end the wait, too. */
  operations: OperationRecord[];
  /** How long the agent has a message before it comes again. Default: 900. */
  leaseSeconds?: number | undefined;
  /** Default: by how long it has been quiet. */
  timeoutSeconds?: number | undefined;
}

/**
 * Waits until there is a message, an operation has ended, or the time has passed. Any process can go on with the wait:
 * nothing about it is kept here.
 *
 * @throws LonghaulError `not_found` for an ID that is no agent's, `unavailable`
 */
export async function waitForWork(
  engine: Engine,
  caller: Caller,
  { agentId, ack, operations, leaseSeconds, timeoutSeconds }: WaitRequest,
): Promise<Answer> {
  const { principal, closing } = caller;
  const watch = new OperationsWatch(engine, caller, operations);
  const waiting = reportWaiting(caller);
  try {
    const received = await engine.mailbox.receive(principal, agentId, {
      // One that has ended shall not keep messages away.
      timeoutMs: watch.hasEnded ? 0 : timeoutOf(caller, timeoutSeconds),
      signal: AbortSignal.any([caller.signal, closing.signal, ...(watch.hasEnded ? [] : [watch.signal])]),
      ...(ack === undefined ? {} : { ack }),
      ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
    });
    return answerOf(engine, caller, agentId, received, watch);
  } finally {
    waiting.end();
    watch.stop();
  }
}

function answerOf(
  engine: Engine,
  { principal, signal, closing }: Caller,
  agentId: string,
  received: ReceiveResult,
  { hasEnded, ended }: OperationsWatch,
): Answer {
  switch (received.kind) {
    case 'message':
      // The client has gone in this same moment. Without this it would get the message with its next wait.
      if (signal.aborted)
        void engine.mailbox.release(principal, agentId, received.message).catch(() => undefined);
      return { ...renderMessage(received), ...(hasEnded ? { ops: ended } : {}) };
    case 'gone':
      return { gone: true };
    case 'bye':
      return { bye: true };
    default:
      if (hasEnded) return { ops: ended };
      return closing.hasBegun ? COME_BACK : NO_WORK;
  }
}

/** A call that waits, as its caller sees it. */
export interface Waiting {
  /** Sends what there is to say of the wait, if the caller takes progress. */
  say: (message: string) => void;
  end: () => void;
}

/** Tells the caller with each heartbeat that the call is alive, if it takes progress. */
export function reportWaiting({ onProgress }: Caller): Waiting {
  if (!onProgress) return { say: () => undefined, end: () => undefined };
  const startedMs = Date.now();
  let latest = 0;
  const send = (seconds: number, more: { message?: string }) => {
    // Progress has to increase with each notification.
    latest = Math.max(seconds, latest + 0.001);
    onProgress({ progress: latest, ...more }).catch(() => undefined);
  };
  const elapsedMs = () => Date.now() - startedMs;
  return {
    say: (message) => send(elapsedMs() / 1000, { message }),
    end: onHeartbeat(() => send(Math.round(elapsedMs() / 1000), {})),
  };
}

/** How long a call waits: what it asks for, else the longer the quieter it is, within what its client allows. */
function timeoutOf(
  { clientName }: Caller,
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

/** A wait that the caller has set the time of, in milliseconds. */
export function timeoutMsOf(seconds: number): number {
  const ms = seconds * 1000;
  return ms - Math.min(EARLY_MS, ms * EARLY_SHARE);
}
