import { LonghaulError } from '../../operations/errors.js';
import { isDiskFullError } from '../home/disk.js';

/**
 * The store is down, slow or full, or refuses. Kind `unavailable`: work waits. Retryable, unless somebody must first change
 * something.
 */
export class StorageError extends LonghaulError {
  override name = 'StorageError';

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super('unavailable', message, options);
  }
}

/** Storage lost a large value. Kind `internal`: its operation stays readable as far as Temporal has it. */
export class LostValueError extends LonghaulError {
  override name = 'LostValueError';

  constructor(message: string, options: { cause?: unknown } = {}) {
    super('internal', message, options);
  }
}

/** The storage error in an error and its causes, even if another copy of this module made it. */
export function storageErrorIn(error: unknown): StorageError | undefined {
  return named('StorageError', error) as StorageError | undefined;
}

/** Like {@link storageErrorIn}, for a lost value. */
export function lostValueIn(error: unknown): LostValueError | undefined {
  return named('LostValueError', error) as LostValueError | undefined;
}

function named(name: string, error: unknown): Error | undefined {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as Error).cause)
    if ((at as Error).name === name) return at as Error;
  return undefined;
}

/** Whether failed work can continue once an operator, or time, has fixed the storage. */
export function isStorageWait(error: unknown): boolean {
  return isDiskFullError(error) || storageErrorIn(error) !== undefined;
}
