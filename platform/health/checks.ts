/** Health checks, as every process answers them: `GET /healthz` and `GET /readyz`. */
import { statfs } from 'node:fs/promises';
import { LonghaulError } from '../../operations/errors.js';
import type { Storage } from '../storage.js';
import { withTimeout } from '../with-timeout.js';

/** Result of one check. A warning doesn't make the process unready. */
export interface Check {
  status: 'ok' | 'warning' | 'failed';
  /** Set unless it is ok: one line that says what is wrong. */
  reason?: string;
}

/** Results by name of the check. */
export type Checks = Record<string, Check>;

/** Body of `GET /readyz`. */
export interface ReadinessBody {
  status: 'ready' | 'unavailable';
  checks: Checks;
  /** Reasons of the failed checks; only with status `unavailable`. */
  missing?: string[];
}

/** Body of `GET /healthz`: an answer at all means that the event loop turns. */
export const ALIVE = { status: 'ok' } as const;

/** Free space of the home's disk below which the process isn't ready, and below which it warns, in bytes. */
export const FREE_FAIL_BYTES = 16 * 1024 ** 2;
export const FREE_WARN_BYTES = 1024 ** 3;

/** How long the outcome of writing to storage counts, in milliseconds, and the limit of one write. */
const WRITTEN_FRESH_MS = 10_000;
const WRITE_LIMIT_MS = 5_000;
/** Key prefix of values that are written to see whether that works. */
const PROBE_PREFIX = 'health/';

export const OK: Check = { status: 'ok' };

export function failed(reason: string): Check {
  return { status: 'failed', reason };
}

export function warning(reason: string): Check {
  return { status: 'warning', reason };
}

export function readinessOf(checks: Checks): ReadinessBody {
  const missing = Object.values(checks).flatMap(({ status, reason }) =>
    status === 'failed' ? [reason ?? 'failed'] : [],
  );
  return missing.length > 0 ? { status: 'unavailable', checks, missing } : { status: 'ready', checks };
}

/** Checks of the home's disk and of storage. Addresses and paths stay out of the reasons: anybody may read them. */
export class StorageChecks {
  #written: { check: Promise<Check>; atMs: number } | undefined;

  constructor(
    private readonly home: string,
    private readonly storage: Storage,
  ) {}

  async read(): Promise<Checks> {
    const [storage, disk] = await Promise.all([this.#isWritable(), this.#isRoomy()]);
    return { storage, disk };
  }

  /** Writes and removes a value; the outcome counts for some seconds. */
  #isWritable(): Promise<Check> {
    const { atMs = -Infinity } = this.#written ?? {};
    if (performance.now() - atMs > WRITTEN_FRESH_MS)
      this.#written = { check: this.#write(), atMs: performance.now() };
    return this.#written!.check;
  }

  async #write(): Promise<Check> {
    const key = `${PROBE_PREFIX}${process.pid}`;
    const write = async (): Promise<Check> => {
      try {
        await this.storage.put(key, Buffer.from(new Date().toISOString()));
        await this.storage.remove(key);
        return OK;
      } catch (error) {
        return failed(`storage can't be written: ${codeOf(error)}`);
      }
    };
    return withTimeout(write(), WRITE_LIMIT_MS, () =>
      failed(`storage did not answer within ${WRITE_LIMIT_MS / 1_000} s`),
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

/** A system error's code, such as ENOSPC; its message would name the path. */
function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? (error instanceof LonghaulError ? error.kind : message);
}
