/** Readiness of a server: whether calls would work now, and whether new operations would be taken up. */
import type { Engine } from '../../engine/index.js';
import { KeyCheck } from '../../engine/key-check.js';
import { failed, OK, readinessOf, StorageChecks, type ReadinessBody } from '../../platform/health/checks.js';
import type { Storage } from '../../platform/storage.js';

export class ServerReadiness {
  readonly #storage: StorageChecks;
  readonly #keys: KeyCheck;
  #isStopping = false;

  /** @param keyId names the key of this server in signatures */
  constructor(
    private readonly engine: Engine,
    { home, storage, keyId }: { home: string; storage: Storage; keyId: string },
  ) {
    this.#storage = new StorageChecks(home, storage);
    this.#keys = new KeyCheck(engine.temporal, keyId);
  }

  /** The server was asked to stop. */
  stopping(): void {
    this.#isStopping = true;
  }

  async read(): Promise<ReadinessBody> {
    const [ofTemporal, ofStorage] = await Promise.all([this.engine.temporal.checks(), this.#storage.read()]);
    return readinessOf({
      ...ofTemporal,
      ...ofStorage,
      secret: this.#keys.read(),
      shutdown: this.#isStopping ? failed('the server stops: it takes no further requests') : OK,
    });
  }
}
