/** Readiness of a server: Temporal with workers, and the storage that the workers have too. */
import { LonghaulError } from '../operations/errors.js';
import { isPolling, pollersOf, storageInIdentity } from '../platform/host-presence.js';
import { storageErrorIn, storageId, type Storage } from '../platform/storage/index.js';
import { withTimeout } from '../platform/with-timeout.js';
import type { TemporalClient } from './temporal.js';

/** Time that storage gets for an answer, in milliseconds. */
const STORAGE_LIMIT_MS = 3_000;

export interface Readiness {
  /** Reasons why calls would fail, one line each. */
  missing: string[];
  /** Reasons why some calls would fail: those that need storage. */
  degraded: string[];
}

/** Looks whether everything that is needed answers. */
export async function readReadiness(temporal: TemporalClient, storage: Storage): Promise<Readiness> {
  const [missing, state] = await Promise.all([temporal.missing(), readStorage(storage)]);
  if ('problem' in state) {
    // Waiting doesn't help: a deployment with these settings is to stop here.
    if (!state.retryable) return { missing: [...missing, state.problem], degraded: [] };
    return { missing, degraded: [state.problem] };
  }
  const mismatch = missing.length === 0 ? await describeMismatch(temporal, state.id) : undefined;
  return { missing, degraded: mismatch === undefined ? [] : [mismatch] };
}

async function readStorage(
  storage: Storage,
): Promise<{ id: string } | { problem: string; retryable: boolean }> {
  try {
    const id = await withTimeout(storageId(storage), STORAGE_LIMIT_MS, () => {
      throw new LonghaulError('unavailable', `storage did not answer within ${STORAGE_LIMIT_MS / 1000} s`);
    });
    return { id };
  } catch (error) {
    const { message, retryable = true } = storageErrorIn(error) ?? (error as Partial<LonghaulError> & Error);
    return { problem: message, retryable };
  }
}

/** Names the workers whose storage is another one; undefined if there are none. */
async function describeMismatch(temporal: TemporalClient, id: string): Promise<string | undefined> {
  const pollers = await temporal
    .call((client) => pollersOf(client, temporal.taskQueue, 'workflows'))
    .catch(() => []);
  return storageMismatch(
    id,
    pollers.filter(isPolling).map(({ identity }) => identity),
  );
}

/** Says which of the workers, by their identities, store elsewhere; undefined if none does. */
export function storageMismatch(id: string, identities: string[]): string | undefined {
  const others = identities.filter((identity) => ![undefined, id].includes(storageInIdentity(identity)));
  if (others.length === 0) return undefined;
  return (
    `this server's storage is ${id}, and that of ${others.length === 1 ? 'the worker' : 'the workers'} ${others.join(', ')} is another one: ` +
    'give all the same --storage, or large results, files and logs are not found'
  );
}
