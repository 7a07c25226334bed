/**
 * What one stream has told of its session's jobs. It travels in the stream's event IDs, so that any process goes on where
 * another stopped: no result is told twice, and none is left out.
 */
import { createHash } from 'node:crypto';

/** As it is sealed. Small: clients send it back in a header. */
export interface JobsPosition {
  /** Epoch milliseconds; what ended before was told. */
  since: number;
  /** Short hash of a job's ID -> its furthest progress, from 0 to 1, or true once its result was told. */
  jobs: Record<string, number | true>;
}

/** How long an end may take until it is told, in milliseconds: what is older is not remembered one by one. */
const TRACKED_MS = 300_000;
/** Most jobs that an ID remembers. */
const MAX_JOBS = 150;

interface Delivery {
  at: number;
  what: number | true;
}

export class DeliveredJobs {
  readonly #jobs = new Map<string, Delivery>();
  readonly #openedAt = Date.now();
  #since: number;

  /** @param position of an earlier stream; without one nothing was told yet */
  constructor(position: JobsPosition = { since: 0, jobs: {} }) {
    this.#since = position.since;
    for (const [hash, what] of Object.entries(position.jobs))
      this.#jobs.set(hash, { at: this.#openedAt, what });
  }

  /** Ends from then on are news. */
  get since(): Date {
    return new Date(this.#since);
  }

  /** The furthest progress that was told of a job, from 0 to 1; true once its result was. */
  progressOf(jobId: string): number | true | undefined {
    return this.#jobs.get(hashOf(jobId))?.what;
  }

  /** Was this end told? */
  isResultDelivered(jobId: string, closedAt: string): boolean {
    return this.progressOf(jobId) === true || Date.parse(closedAt) <= this.#since;
  }

  markDelivered(jobId: string, what: number | true): void {
    const hash = hashOf(jobId);
    this.#jobs.delete(hash);
    this.#jobs.set(hash, { at: Date.now(), what });
  }

  /** Where the stream is now. A stream that has been open for long has told all ends but the latest. */
  get position(): JobsPosition {
    const before = Date.now() - TRACKED_MS;
    if (this.#openedAt < before) {
      this.#since = Math.max(this.#since, before);
      for (const [hash, { at, what }] of this.#jobs)
        if (what === true && at < before) this.#jobs.delete(hash);
    }
    const latest = [...this.#jobs].slice(-MAX_JOBS);
    return {
      since: this.#since,
      jobs: Object.fromEntries(latest.map(([hash, { what }]) => [hash, short(what)])),
    };
  }
}

/** Rounded down: what was told is never behind what is remembered. */
function short(what: number | true): number | true {
  return what === true ? true : Math.floor(what * 1000) / 1000;
}

function hashOf(jobId: string): string {
  return createHash('sha256').update(jobId).digest('base64url').slice(0, 8);
}
