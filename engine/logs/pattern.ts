/**
 * Searches lines for a caller's regular expression. Backtracking can take years for forty characters and would block the event loop, so
 * each search has a thread with little memory and a time limit.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { LonghaulError } from '../../operations/errors.js';
import { PATTERN_CHARACTERS } from '../../operations/log-page.js';

/** Time limit for a batch of some thousand lines, in milliseconds; a few are usually enough. */
const FIND_LIMIT_MS = 3_000;
/** Maximum number of concurrent searches per process; each has a thread. */
const MAX_SEARCHES = 8;

/** Answers with the index of the match in each line, or -1. Source text runs the same from any build. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData);
parentPort.on('message', (lines) => parentPort.postMessage(lines.map((line) => line.search(pattern))));
`;

let openSearches = 0;

export class LineMatcher {
  readonly #thread: Worker;

  /** @throws LonghaulError `invalid_arguments` for an invalid regular expression, `unavailable` at too many searches */
  constructor(pattern: string) {
    assertPattern(pattern);
    if (openSearches >= MAX_SEARCHES)
      throw new LonghaulError('unavailable', 'too many logs are being searched; try again shortly');
    this.#thread = new Worker(THREAD, {
      eval: true,
      workerData: pattern,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
    });
    openSearches += 1;
    // An error between searches ends the thread, so the next `find` fails.
    this.#thread.on('error', () => undefined);
    this.#thread.once('exit', () => (openSearches -= 1));
  }

  /** @returns index of the match in each line, or -1 @throws LonghaulError `invalid_arguments` if it takes too long */
  async find(lines: string[]): Promise<number[]> {
    const done = new AbortController();
    const timer = setTimeout(() => done.abort(), FIND_LIMIT_MS);
    try {
      this.#thread.postMessage(lines);
      const [found] = (await once(this.#thread, 'message', { signal: done.signal })) as [number[]];
      return found;
    } catch (error) {
      throw new LonghaulError(
        'invalid_arguments',
        `pattern: takes too long or too much memory on this log; expected a simpler one, without repetitions in repetitions`,
        { cause: error },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}

function assertPattern(pattern: string): void {
  if (pattern.length === 0 || pattern.length > PATTERN_CHARACTERS) {
    throw new LonghaulError(
      'invalid_arguments',
      `pattern: expected 1 to ${PATTERN_CHARACTERS} characters; got ${pattern.length}`,
    );
  }
  try {
    new RegExp(pattern);
  } catch (error) {
    throw new LonghaulError('invalid_arguments', `pattern: ${(error as Error).message}`);
  }
}
