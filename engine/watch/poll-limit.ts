/** Limits history long polls, which Temporal caps per namespace and frontend. Workflows without one are described in turn. */
import PQueue from 'p-queue';

/** Maximum number of describes per tenth of a second, and at a time: 500 workflows are described every 5 s. */
const DESCRIBES_PER_TENTH = 10;
const CONCURRENT_DESCRIBES = 20;

const MAX_POLLS = 500;

export class PollLimit {
  #polls = 0;
  readonly #turns = new PQueue({
    intervalCap: DESCRIBES_PER_TENTH,
    interval: 100,
    strict: true,
    concurrency: CONCURRENT_DESCRIBES,
  });

  /** @param maxPolls maximum number of long polls at a time. Default: 500 */
  constructor(private readonly maxPolls = MAX_POLLS) {}

  get openCount(): number {
    return this.#polls;
  }

  /** Takes a long poll, to be released later. @returns whether one was left */
  take(): boolean {
    if (this.#polls >= this.maxPolls) return false;
    this.#polls += 1;
    return true;
  }

  release(): void {
    this.#polls -= 1;
  }

  /** Describes a workflow in its turn; first come, first served. */
  describeInTurn<T>(describe: () => Promise<T>): Promise<T> {
    return this.#turns.add(describe);
  }
}
