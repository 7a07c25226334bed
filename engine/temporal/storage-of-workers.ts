/** Whether the task queue's workers have this process's storage; otherwise they can't find its values. */
import { isPolling, storageInIdentity, type Poller } from '../../platform/temporal/host-presence.js';
import { storageId, type Storage } from '../../platform/storage/index.js';
import { withTimeout } from '../../platform/with-timeout.js';

/** How long storage may take to answer, in milliseconds. */
const STORAGE_LIMIT_MS = 3_000;

export class StorageOfWorkers {
  #id: string | undefined;

  constructor(private readonly storage: Storage) {}

  /** Names the workers with another storage; undefined if there are none, or storage doesn't answer. */
  async mismatch(workers: readonly Poller[]): Promise<string | undefined> {
    this.#id ??= await withTimeout(
      storageId(this.storage).catch(() => undefined),
      STORAGE_LIMIT_MS,
      () => undefined,
    );
    if (this.#id === undefined) return undefined;
    return storageMismatch(
      this.#id,
      workers.filter(isPolling).map(({ identity }) => identity),
    );
  }
}

/** Names the workers that store elsewhere, by their identities. */
export function storageMismatch(id: string, identities: string[]): string | undefined {
  const others = identities.filter((identity) => ![undefined, id].includes(storageInIdentity(identity)));
  if (others.length === 0) return undefined;
  return (
    `this server's storage is ${id}, and that of ${others.length === 1 ? 'the worker' : 'the workers'} ${others.join(', ')} is another one: ` +
    'give all the same --storage, or large results, files and logs are not found'
  );
}
