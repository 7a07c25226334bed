/** Readiness of a server: whether calls would work now, and whether new operations would be taken up. */
import type { Engine } from '../../engine/index.js';
import { KeyCheck } from '../../engine/key-check.js';
import { describeStorageMismatch } from '../../engine/storage-of-workers.js';
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
  readonly #keys: KeyCheck;
  #isStopping = false;

  /** @param keyId names the key of this server in signatures */
  constructor(
    private readonly engine: Engine,
    private readonly own: { home: string; storage: Storage; keyId: string },
  ) {
    const { home, storage, keyId } = own;
    this.#storage = new StorageChecks(home, storage);
    this.#keys = new KeyCheck(engine.temporal, keyId);
  }

  /** The server was asked to stop. */
  stopping(): void {
    this.#isStopping = true;
  }

  async read(): Promise<ReadinessBody> {
    const [ofTemporal, { storage, disk }, storageOfWorkers] = await Promise.all([
      this.engine.temporal.checks(),
      this.#storage.read(),
      this.#storageOfWorkers(),
    ]);
    return readinessOf({
      ...ofTemporal,
      // States and small results are in Temporal: taking the server away would take these too.
      storage: storage.isPermanent ? storage : asWarning(storage),
      disk: asWarning(disk),
      storageOfWorkers,
      secret: this.#keys.read(),
      shutdown: this.#isStopping ? failed('the server stops: it takes no further requests') : OK,
    });
  }

  async #storageOfWorkers(): Promise<Check> {
    const mismatch = await describeStorageMismatch(this.engine.temporal, this.own.storage);
    return mismatch === undefined ? OK : warning(mismatch);
  }
}

function asWarning(check: Check): Check {
  return check.status === 'failed' ? { ...check, status: 'warning' } : check;
}
