/**
 * Progress and results of a session's jobs that one stream has delivered. The stream's event IDs store them, so any process can
 * resume the stream without repeating or omitting a result.
 */
import { createHash } from 'node:crypto';

/** Sealed form. Small, since clients send it back in a header. */
export interface JobsPosition {
  /** Epoch milliseconds by Temporal's clock. Results of jobs that ended earlier were delivered. */
  since: number;
  /** Short hash of a job's ID -> highest delivered progress from 0 to 1, or true once its result was delivered. */
  jobs: Record<string, number | true>;
}

/** Longest delay from a job's end to its delivery, in milliseconds. Older results aren't tracked individually. */
const TRACKED_MS = 300_000;
const MAX_JOBS = 150;

interface Delivery {
  at: number;
  what: number | true;
}

export class DeliveredJobs {
  readonly #jobs = new Map<string, Delivery>();
  readonly #openedAt: number;
  #since: number;

  /** @param position of the stream to resume. Default: nothing delivered */
  constructor(
    private readonly nowMs: () => number,
    position: JobsPosition = { since: 0, jobs: {} },
  ) {
    this.#openedAt = nowMs();
    this.#since = position.since;
    for (const [hash, what] of Object.entries(position.jobs))
      this.#jobs.set(hash, { at: this.#openedAt, what });
  }

  /** Jobs that ended from this time on may be undelivered. */
  get since(): Date {
    return new Date(this.#since);
  }

  /** Highest delivered progress of a job, from 0 to 1; true once its result was delivered. */
  progressOf(jobId: string): number | true | undefined {
    return this.#jobs.get(hashOf(jobId))?.what;
  }

  /** @param closedAt ISO 8601 */
  isResultDelivered(jobId: string, closedAt: string): boolean {
    return this.progressOf(jobId) === true || Date.parse(closedAt) <= this.#since;
  }

  markDelivered(jobId: string, what: number | true): void {
    const hash = hashOf(jobId);
    this.#jobs.delete(hash);
    this.#jobs.set(hash, { at: this.nowMs(), what });
  }

  /** Current position. A stream that has been open for long has delivered all but the latest results. */
  get position(): JobsPosition {
    const before = this.nowMs() - TRACKED_MS;
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

/** Rounds down, so the stored progress never exceeds the delivered one. */
function short(what: number | true): number | true {
  return what === true ? true : Math.floor(what * 1000) / 1000;
}

function hashOf(jobId: string): string {
  return createHash('sha256').update(jobId).digest('base64url').slice(0, 8);
}
