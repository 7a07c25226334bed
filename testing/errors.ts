/** Errors of the test kit. Refused calls throw LonghaulError, as everywhere. */
import { LonghaulError, type ErrorKind, type OperationError } from '../operations/errors.js';
import type { OperationStatus } from '../operations/record.js';

/** The environment can't start. The message names the failed part and the reason. */
export class TestEnvironmentError extends Error {
  override name = 'TestEnvironmentError';
}

/** The wait timed out. The message has the last state seen. */
export class WaitTimeoutError extends Error {
  override name = 'WaitTimeoutError';
}

/** The project's current workflows don't replay the history. The message is Temporal's. */
export class ReplayError extends Error {
  override name = 'ReplayError';
  constructor(
    message: string,
    /** True when the code takes other steps than the history, false for other failures. */
    readonly isNondeterministic: boolean,
  ) {
    super(message);
  }
}

/** The operation closed without a result. `kind` is e.g. `failed`, `canceled`, `timed_out`, `terminated`. */
export class OperationFailedError extends LonghaulError {
  override name = 'OperationFailedError';
  /** Type of the ApplicationFailure that ended the work, or the name of the error that an activity threw. */
  readonly type: string | undefined;
  /** Message of the underlying failure. */
  readonly causeMessage: string | undefined;

  constructor(
    readonly status: OperationStatus,
    { kind, message, retryable, type, cause }: OperationError,
    /** Partial result that the workflow set with `partial()`. */
    readonly partial: unknown,
  ) {
    super(kind, message, { retryable });
    this.type = type;
    this.causeMessage = cause;
  }
}

/** Builds a typed error from an error that the server sent. */
export function refusal(kind: string | undefined, message: string, retryable = false): LonghaulError {
  return new LonghaulError((kind ?? 'internal') as ErrorKind, message, { retryable });
}
