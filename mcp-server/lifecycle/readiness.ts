/** Readiness of a server: whether calls would work now, and whether workers would take up new operations. */
import type { Engine } from '../../engine/index.js';
import { KeyCheck } from '../../engine/key-check.js';
import { StorageOfWorkers } from '../../engine/storage-of-workers.js';
import {
  failed,
  OK,
  readinessOf,
  StorageChecks,
  warning,
  type Check,
  type ReadinessBody,
} from '../../platform/health/checks.js';
import type { Storage } from '../../platform/storage/index.js';

export class ServerReadiness {
  readonly #storage: StorageChecks;
  readonly #storageOfWorkers: StorageOfWorkers;
  readonly #keys: KeyCheck;
  #isStopping = false;

  /** @param keyId names this server's key in signatures */
  constructor(
    private readonly engine: Engine,
    { home, storage, keyId }: { home: string; storage: Storage; keyId: string },
  ) {
    this.#storage = new StorageChecks(home, storage);
    this.#storageOfWorkers = new StorageOfWorkers(storage);
    this.#keys = new KeyCheck(engine.temporal, keyId);
  }

  stopping(): void {
    this.#isStopping = true;
  }

  async read(): Promise<ReadinessBody> {
    const [{ checks, workers }, { storage, disk }] = await Promise.all([
      this.engine.temporal.readiness(),
      this.#storage.read(),
    ]);
    const mismatch = await this.#storageOfWorkers.mismatch(workers);
    return readinessOf({
      ...checks,
      // Temporal holds states and small results. Taking the server away would take these too.
      storage: storage.isPermanent ? storage : asWarning(storage),
      disk: asWarning(disk),
      storageOfWorkers: mismatch === undefined ? OK : warning(mismatch),
      secret: this.#keys.read(),
      shutdown: this.#isStopping ? failed('the server stops: it takes no further requests') : OK,
    });
  }
}

function asWarning(check: Check): Check {
  return check.status === 'failed' ? { ...check, status: 'warning' } : check;
}
