/**
 * Rate limit for operations' lines in the process's log. A pipe takes some 3,000 lines a second and writing blocks the process,
 * so one tool that logs nonstop would stop the heartbeats of all activities.
 */
import type { Logger } from '../platform/log.js';

const BURST_LINES = 1_000;
const LINES_PER_SECOND = 500;
const REPORT_MS = 1_000;

export class LineLimit {
  #left = BURST_LINES;
  #atMs = performance.now();
  #droppedLines = 0;

  constructor(private readonly logger: Pick<Logger, 'warn'>) {}

  /** Counts one line. @returns whether it may be written */
  take(): boolean {
    const nowMs = performance.now();
    this.#left = Math.min(BURST_LINES, this.#left + ((nowMs - this.#atMs) / 1000) * LINES_PER_SECOND);
    this.#atMs = nowMs;
    if (this.#left >= 1) {
      this.#left -= 1;
      return true;
    }
    if (this.#droppedLines === 0) setTimeout(() => this.#report(), REPORT_MS).unref();
    this.#droppedLines += 1;
    return false;
  }

  #report(): void {
    this.logger.warn(
      { count: this.#droppedLines },
      "operations logged too fast: lines are missing here, and are in the operations' logs",
    );
    this.#droppedLines = 0;
  }
}
