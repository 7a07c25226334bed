/** Readiness of a server: whether calls would work now, and whether workers would take up new operations. */
import type { Hono } from 'hono';
import type { Engine } from '../../engine/index.js';
import { KeyCheck } from '../../engine/temporal/key-check.js';
import { StorageOfWorkers } from '../../engine/temporal/storage-of-workers.js';
import {
  failed,
  OK,
  readinessOf,
  StorageChecks,
  warning,
  type Check,
  type ReadinessBody,
  ALIVE,
} from '../../platform/observe/health/checks.js';
import type { Storage } from '../../platform/storage/index.js';
import type { Settings } from '../../platform/settings/index.js';
import { metricsPage, METRICS_CONTENT_TYPE } from '../../platform/observe/metrics/index.js';

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

const ALLOW = { Allow: 'GET, HEAD' };

export interface HealthOptions {
  engine: Engine;
  settings: Settings;
  /** Whether callers need no credential. Then readiness names the tools, and metrics are served. */
  isOpen: boolean;
  readiness: ServerReadiness;
}

/** Registers `/healthz`, `/readyz` and `/metrics`. They also work while the server stops, since probes ask then too. */
export function registerHealth(app: Hono, { engine, settings, isOpen, readiness }: HealthOptions): void {
  app.get('/healthz', (c) => c.json(ALIVE));
  app.get('/readyz', async (c) => {
    const body = await readiness.read();
    if (body.status !== 'ready') return c.json(body, 503);
    return c.json({ ...body, ...(isOpen ? { tools: engine.tools.keys() } : {}) });
  });
  const hasMetrics = settings.metrics && isOpen;
  if (hasMetrics)
    app.get('/metrics', async (c) =>
      c.text((await metricsPage()) ?? '', 200, { 'Content-Type': METRICS_CONTENT_TYPE }),
    );
  for (const path of ['/healthz', '/readyz', ...(hasMetrics ? ['/metrics'] : [])]) {
    app.options(path, (c) => c.body(null, 204, ALLOW));
    app.all(path, (c) => c.json({ error: `${c.req.method}: expected GET` }, 405, ALLOW));
  }
}
