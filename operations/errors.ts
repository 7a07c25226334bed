/** The one error class. Every face renders it in one place; the kinds are a closed list. */

/** What went wrong, as far as a caller has to tell cases apart. */
export const ERROR_KINDS = [
  /** The arguments don't match the tool's schema. */
  'invalid_arguments',
  /** No tool of that name. */
  'unknown_tool',
  /** No such operation for this principal: never existed, another's, or purged. */
  'not_found',
  /** The operation's keepAlive has passed. */
  'expired',
  /** The token or idempotency key is taken by another request. */
  'conflict',
  /** The operation is not in a state in which this can be done. */
  'wrong_state',
  /** An answer that doesn't match its input request. */
  'invalid_answer',
  /** The client didn't declare a capability that is needed. */
  'missing_capability',
  /** Something is larger than its published limit. */
  'too_large',
  /** Temporal can't be reached just now. */
  'unavailable',
  /** The tool's own work failed. */
  'failed',
  /** The tool ended the call with an error of the protocol instead of a result. */
  'protocol',
  /** The tool's maximum duration passed. */
  'timed_out',
  /** Somebody cancelled. */
  'canceled',
  /** An operator terminated the workflow. */
  'terminated',
  /** A defect of Longhaul. */
  'internal',
] as const;

export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Would the same call have a chance later, after an error of this kind? A single error may say otherwise. */
export function isRetryable(kind: ErrorKind): boolean {
  return kind === 'unavailable';
}

/** The error of an operation, as its record carries it. */
export interface OperationError {
  kind: ErrorKind;
  /** For people and models: where, what was expected, what came. */
  message: string;
  /** Would the same call have a chance later? */
  retryable: boolean;
  /** Name of the failure in the tool's code (the type of Temporal's ApplicationFailure). */
  type?: string;
  /** JSON-RPC error code that the tool chose, for errors of kind `protocol`. */
  code?: number;
  /** Message of the failure behind this one. */
  cause?: string;
}

/** An error of one of the engine's verbs, or of a definition. */
export class LonghaulError extends Error {
  override name = 'LonghaulError';
  readonly kind: ErrorKind;
  /** Would the same call have a chance later? Only `unavailable` is by default. */
  readonly retryable: boolean;

  constructor(kind: ErrorKind, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.retryable = options.retryable ?? isRetryable(kind);
  }
}
