import { LonghaulError } from '../../operations/errors.js';
import { isDiskFullError } from '../disk.js';

/**
 * The store doesn't do what it is asked for: it is down, slow or full, or refuses. Kind `unavailable`; the work that needs it waits.
 * Retryable for callers unless somebody has to change a setting, a permission or the store first.
 */
export class StorageError extends LonghaulError {
  override name = 'StorageError';

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super('unavailable', message, options);
  }
}

/** A large value is no longer in storage. Kind `internal`: its operation can be read as far as Temporal has it. */
export class LostValueError extends LonghaulError {
  override name = 'LostValueError';

  constructor(message: string, options: { cause?: unknown } = {}) {
    super('internal', message, options);
  }
}

/** The storage error in an error and its causes, also one that another copy of this module has made; else undefined. */
export function storageErrorIn(error: unknown): StorageError | undefined {
  return named('StorageError', error) as StorageError | undefined;
}

/** As {@link storageErrorIn}, for a value that is lost. */
export function lostValueIn(error: unknown): LostValueError | undefined {
  return named('LostValueError', error) as LostValueError | undefined;
}

function named(name: string, error: unknown): Error | undefined {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as Error).cause)
    if ((at as Error).name === name) return at as Error;
  return undefined;
}

/** Whether work that has failed with this error can continue once an operator, or time, has put storage right. */
export function isStorageWait(error: unknown): boolean {
  return isDiskFullError(error) || storageErrorIn(error) !== undefined;
}
