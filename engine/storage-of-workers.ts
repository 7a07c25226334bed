/** Whether the workers of the task queue have the storage of this process: they find no value that it has stored elsewhere. */
import { isPolling, storageInIdentity, type Poller } from '../platform/host-presence.js';
import { storageId, type Storage } from '../platform/storage/index.js';
import { withTimeout } from '../platform/with-timeout.js';

/** Time that storage gets for an answer, in milliseconds. */
const STORAGE_LIMIT_MS = 3_000;

export class StorageOfWorkers {
  /** A storage keeps its ID. */
  #id: string | undefined;

  constructor(private readonly storage: Storage) {}

  /** Names the workers whose storage is another one; undefined if there are none, or storage doesn't answer. */
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

/** Says which of the workers, by their identities, store elsewhere; undefined if none does. */
export function storageMismatch(id: string, identities: string[]): string | undefined {
  const others = identities.filter((identity) => ![undefined, id].includes(storageInIdentity(identity)));
  if (others.length === 0) return undefined;
  return (
    `this server's storage is ${id}, and that of ${others.length === 1 ? 'the worker' : 'the workers'} ${others.join(', ')} is another one: ` +
    'give all the same --storage, or large results, files and logs are not found'
  );
}
