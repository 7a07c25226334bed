/** The error class, and the closed list of error kinds. Each protocol renders it in one place. */

/** Error kinds, for the cases that callers have to distinguish. */
export const ERROR_KINDS = [
  /** The arguments don't match the tool's schema. */
  'invalid_arguments',
  /** No tool of that name. */
  'unknown_tool',
  /** No such operation for this principal: it never existed, was purged, or is another's. */
  'not_found',
  /** The caller's roles don't allow the request. */
  'forbidden',
  /** The operation's keepAlive has passed. */
  'expired',
  /** The token or idempotency key was used by another request. */
  'conflict',
  /** The operation's state doesn't allow the request. */
  'wrong_state',
  /** The answer doesn't match its input request. */
  'invalid_answer',
  /** The client didn't declare a needed capability. */
  'missing_capability',
  /** Something exceeds its published limit. */
  'too_large',
  /** Temporal can't be reached now. */
  'unavailable',
  /** The caller, or all callers together, hit a limit of the server. */
  'rate_limited',
  /** The tool's queue takes no more operations now. */
  'busy',
  /** The tool's own work failed. */
  'failed',
  /** The tool's result doesn't fit the output that it declares. */
  'invalid_output',
  /** The tool ended the call with a JSON-RPC error instead of a result. */
  'protocol',
  /** The tool's maximum duration passed. */
  'timed_out',
  /** A caller cancelled the operation. */
  'canceled',
  /** An operator terminated the workflow, or Temporal did at one of its limits. */
  'terminated',
  /** A defect of Longhaul. */
  'internal',
] as const;

export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Whether the same call may succeed later, after an error of this kind. A single error may override it. */
export function isRetryable(kind: ErrorKind): boolean {
  return kind === 'unavailable' || kind === 'rate_limited' || kind === 'busy';
}

export interface OperationError {
  kind: ErrorKind;
  /** For people and models: where, what was expected, what came. */
  message: string;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** Failure's name in the tool's code (the type of Temporal's ApplicationFailure). */
  type?: string;
  /** JSON-RPC error code that the tool chose, for kind `protocol`. */
  code?: number;
  cause?: string;
}

/** An error that no repeated call changes. */
export function finalError(kind: ErrorKind, message: string): OperationError {
  return { kind, message, retryable: false };
}

/** Says that storage can't give a value. @param value for example `the result` */
export function unreadableText(
  value: string,
  { message, retryable }: Pick<OperationError, 'message' | 'retryable'>,
): string {
  return `${value} can't be read${retryable ? ' at present' : ''}: ${message}`;
}

/** An error of an engine method, or of a definition. */
export class LonghaulError extends Error {
  override name = 'LonghaulError';
  readonly kind: ErrorKind;
  /** Whether the same call may succeed later. Default: true for `unavailable`, `rate_limited` and `busy` only. */
  readonly retryable: boolean;
  /** When it may succeed, in seconds, if known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { retryable?: boolean; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.retryable = options.retryable ?? isRetryable(kind);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** A function's result; undefined if it throws. For failures that are an answer, such as a missing file or text that isn't JSON. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** For `catch`: turns errors of this kind into undefined, and rethrows others. */
export function undefinedIf(kind: ErrorKind): (error: unknown) => undefined {
  return (error) => {
    if (isKind(error, kind)) return undefined;
    throw error;
  };
}

export function isKind(error: unknown, kind: ErrorKind): error is LonghaulError {
  return error instanceof LonghaulError && error.kind === kind;
}
