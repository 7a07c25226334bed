/** Errors of the test kit. A refused call is a LonghaulError of its kind, as everywhere. */
import { LonghaulError, type ErrorKind, type OperationError } from '../operations/errors.js';
import type { OperationStatus } from '../operations/record.js';

/** An environment that can't be started: the message says which part failed, and why. */
export class TestEnvironmentError extends Error {
  override name = 'TestEnvironmentError';
}

/** A wait whose time was up; the message has the last state that was seen. */
export class WaitTimeoutError extends Error {
  override name = 'WaitTimeoutError';
}

/** A history that the project's current workflows don't replay; the message is Temporal's. */
export class ReplayError extends Error {
  override name = 'ReplayError';
  constructor(
    message: string,
    /** Whether the code takes other steps than the history; false when it failed in another way. */
    readonly isNondeterministic: boolean,
  ) {
    super(message);
  }
}

/** An operation that closed without a result. `kind` is e.g. `failed`, `canceled`, `timed_out`, `terminated`. */
export class OperationFailedError extends LonghaulError {
  override name = 'OperationFailedError';
  /** Type of the ApplicationFailure that ended the work, or name of the error that an activity threw. */
  readonly type: string | undefined;
  /** Message of the failure behind this one. */
  readonly causeMessage: string | undefined;

  constructor(
    readonly status: OperationStatus,
    { kind, message, retryable, type, cause }: OperationError,
    /** Partial result, as the workflow set it with `partial()`. */
    readonly partial: unknown,
  ) {
    super(kind, message, { retryable });
    this.type = type;
    this.causeMessage = cause;
  }
}

/** An error with a kind, for any that a server sent. */
export function refusal(kind: string | undefined, message: string, retryable = false): LonghaulError {
  return new LonghaulError((kind ?? 'internal') as ErrorKind, message, { retryable });
}
