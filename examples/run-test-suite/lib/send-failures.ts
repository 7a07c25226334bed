/** Sends failed tests to the workflow while their shard runs on. */
import { Context } from '@temporalio/activity';
import type { Failure } from './types.js';

/** A signal is an event of the workflow's history, so failures of this time share one, in milliseconds. */
const INTERVAL_MS = 1_000;

/** Failures that are sent; the shard's result has all. */
const MOST_SENT = 200;

export class FailureSender {
  readonly #context = Context.current();
  #waiting: Failure[] = [];
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending = Promise.resolve();

  add(failures: Failure[]): void {
    const room = Math.max(0, MOST_SENT - this.#sent - this.#waiting.length);
    this.#waiting.push(...failures.slice(0, room));
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => void this.flush(), INTERVAL_MS);
  }

  /** Resolves once all are sent. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const failures = this.#waiting;
    this.#waiting = [];
    this.#sent += failures.length;
    if (failures.length > 0) this.#sending = this.#sending.then(() => this.#send(failures));
    return this.#sending;
  }

  async #send(failures: Failure[]): Promise<void> {
    const { client, info } = this.#context;
    const { workflowId, runId } = info.workflowExecution!;
    try {
      await client.workflow.getHandle(workflowId, runId).signal('failing_tests', failures);
    } catch (error) {
      // They are in the result as well; the workflow may have ended.
      this.#context.log.debug('failed tests were not sent', { error: String(error) });
    }
  }
}
