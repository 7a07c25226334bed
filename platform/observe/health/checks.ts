/** Health checks of every process: `GET /healthz` and `GET /readyz`. */
import { statfs } from 'node:fs/promises';
import { LonghaulError } from '../../../operations/errors.js';
import { storageErrorIn, type Storage } from '../../storage/index.js';
import { withTimeout } from '../../with-timeout.js';

/** Result of one check. A warning doesn't make the process unready. */
export interface Check {
  status: 'ok' | 'warning' | 'failed';
  /** One line that says what is wrong; unset if ok. */
  reason?: string;
  /** Waiting doesn't help: somebody must change a setting, a permission or the store. */
  isPermanent?: true;
}

export type Checks = Record<string, Check>;

/** Body of `GET /readyz`. */
export interface ReadinessBody {
  status: 'ready' | 'unavailable';
  checks: Checks;
  /** Reasons of failed checks; only with status `unavailable`. */
  missing?: string[];
  /** Reasons of warnings, if any. */
  degraded?: string[];
}

/** Body of `GET /healthz`: any answer means that the event loop turns. */
export const ALIVE = { status: 'ok' } as const;

/** Free space on the home's disk: less makes the process unready (fail), or adds a warning. */
export const FREE_FAIL_BYTES = 16 * 1024 ** 2;
export const FREE_WARN_BYTES = 1024 ** 3;

/** How long an answer of storage counts, and the time limit for one. */
const ANSWER_FRESH_MS = 10_000;
const ANSWER_LIMIT_MS = 5_000;

/** Advice for processes of one Temporal that have different secrets. */
export const SAME_SECRET =
  'give all servers and workers of this Temporal the same LONGHAUL_SECRET, or the same file "secret" in LONGHAUL_HOME';

export const OK: Check = { status: 'ok' };

export function failed(reason: string): Check {
  return { status: 'failed', reason };
}

export function warning(reason: string): Check {
  return { status: 'warning', reason };
}

export function readinessOf(checks: Checks): ReadinessBody {
  const reasons = (wanted: Check['status']) =>
    Object.values(checks).flatMap(({ status, reason }) => (status === wanted ? [reason ?? wanted] : []));
  const [missing, degraded] = [reasons('failed'), reasons('warning')];
  return {
    status: missing.length > 0 ? 'unavailable' : 'ready',
    checks,
    ...(missing.length > 0 ? { missing } : {}),
    ...(degraded.length > 0 ? { degraded } : {}),
  };
}

export function freshFor<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let latest: { outcome: Promise<T>; atMs: number } | undefined;
  return () => {
    if (!latest || performance.now() - latest.atMs > freshMs)
      latest = { outcome: read(), atMs: performance.now() };
    return latest.outcome;
  };
}

/** Checks the home's disk and storage. Reasons leave out addresses and paths, because anybody may read them. */
export class StorageChecks {
  readonly #isUsable = freshFor(ANSWER_FRESH_MS, () => this.#probe());

  constructor(
    private readonly home: string,
    private readonly storage: Storage,
  ) {}

  async read(): Promise<{ storage: Check; disk: Check }> {
    const [storage, disk] = await Promise.all([this.#isUsable(), this.#isRoomy()]);
    return { storage, disk };
  }

  async #probe(): Promise<Check> {
    const probe = this.storage.probe().then(
      () => OK,
      (error: unknown): Check => {
        const trouble = storageErrorIn(error);
        if (!trouble) return failed(`storage can't be written: ${codeOf(error)}`);
        return { ...failed(trouble.message), ...(trouble.retryable ? {} : { isPermanent: true as const }) };
      },
    );
    return withTimeout(probe, ANSWER_LIMIT_MS, () =>
      failed(`storage did not answer within ${ANSWER_LIMIT_MS / 1_000} s`),
    );
  }

  async #isRoomy(): Promise<Check> {
    try {
      const { bavail, bsize } = await statfs(this.home);
      const free = bavail * bsize;
      if (free >= FREE_WARN_BYTES) return OK;
      const reason = `the disk of the home has ${Math.floor(free / 1024 ** 2)} MiB left`;
      return free < FREE_FAIL_BYTES ? failed(reason) : warning(reason);
    } catch (error) {
      return failed(`the disk of the home can't be read: ${codeOf(error)}`);
    }
  }
}

/** A system error's code, such as ENOSPC. Its message would name the path. */
function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? (error instanceof LonghaulError ? error.kind : message);
}
