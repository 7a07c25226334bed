/**
 * One client for each protocol, all with the same inside: harnesses drive any operation over any of them, also over several in
 * turn, since an operation has the same token and the same keys of questions on each.
 */

/** States of an operation's record. `canceling`: a cancel is accepted, and the work has not ended yet. */
export const OPEN_STATES = ['submitted', 'working', 'input_required', 'canceling'] as const;
export const CLOSED_STATES = ['completed', 'failed', 'canceled', 'timed_out'] as const;
export type State = (typeof OPEN_STATES)[number] | (typeof CLOSED_STATES)[number];

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

export interface Question {
  key: string;
  message: string;
  schema?: object;
}

/** An operation as one answer of a protocol shows it. Fields that the protocol lacks are missing. */
export interface Reading {
  /** The protocol's own name of the status. */
  status: string;
  /** All states that the answer allows: one, if the protocol is precise. */
  states: readonly State[];
  /** Whether the status is final by the protocol. Some call an operation canceled while its work still ends. */
  isOver: boolean;
  progress?: Progress;
  /** Share of the work that is done, from 0 to 1, for protocols without the tool's own units. */
  share?: number;
  /** Open questions. */
  questions: Question[];
  /** Answers, oldest first. Of those to one key, at most one isn't refused. */
  answers?: { key: string; action: string; state: 'applied' | 'refused' | 'queued' }[];
  /** ISO 8601. */
  updatedAt?: string;
  /** Structured content of the result of completed work. */
  result?: any;
  resumedFrom?: string;
  /** The whole answer, and that with the result where this is another one. */
  raw: unknown;
}

/** Content that fits the question, or the refusal to answer. */
export type GivenAnswer = Record<string, unknown> | 'decline';

/**
 * Every call throws {@link Refused} when the server has answered with an error, and another error when no answer came. A signal
 * closes the call's connection.
 */
export interface ProtocolClient {
  /** E.g. `2026-07-28 tasks`. */
  name: string;
  /** @param key idempotency key @returns the operation's token */
  start(tool: string, args: object, key: string, signal?: AbortSignal): Promise<string>;
  /** @returns undefined for an operation that doesn't exist or has expired */
  read(token: string, signal?: AbortSignal): Promise<Reading | undefined>;
  /** @returns undefined if the protocol doesn't say whether this answer counts */
  answer(
    token: string,
    key: string,
    given: GivenAnswer,
    signal?: AbortSignal,
  ): Promise<'accepted' | 'queued' | undefined>;
  /** @returns whether the operation can only end canceled from now on; undefined if the protocol doesn't say */
  cancel(token: string, signal?: AbortSignal): Promise<boolean | undefined>;
  /** @returns the token of the new operation */
  resume?(token: string, signal?: AbortSignal): Promise<string>;
  /** Waits for the end or a question, by the protocol's own means. @returns the last state, also when the time has passed */
  wait?(token: string, seconds: number, signal?: AbortSignal): Promise<Reading | undefined>;
  close?(): Promise<void>;
}

/** The server's answer is an error. */
export class Refused extends Error {
  override name = 'Refused';

  constructor(
    /** Kind of the error (`operations/errors.ts`), or the nearest one; undefined if the protocol doesn't show it. */
    readonly kind: string | undefined,
    /** JSON-RPC error code, or HTTP status; undefined for a result with `isError`. */
    readonly code: number | undefined,
    message: string,
    /** Whether the same call may succeed later. */
    readonly isRetryable = false,
  ) {
    super(message);
  }
}

/** Errors of an operation that can't be read. */
export function isGone(error: unknown): boolean {
  return error instanceof Refused && (error.kind === 'not_found' || error.kind === 'expired');
}

/** For reads: undefined for an operation that is gone. */
export async function undefinedIfGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Closed state of work that did not complete, by its error's kind. */
export function failedStates(kind: string | undefined): State[] {
  if (kind === undefined) return ['failed', 'timed_out'];
  if (kind === 'canceled' || kind === 'timed_out') return [kind];
  return ['failed'];
}

/** MCP's answer to a question (specs: client/elicitation). */
export function elicitResultOf(given: GivenAnswer): object {
  return given === 'decline' ? { action: 'decline' } : { action: 'accept', content: given };
}
