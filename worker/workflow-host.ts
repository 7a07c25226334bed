/**
 * The Worker that runs workflows, which can be replaced by one with another bundle while the process runs: the new one polls
 * before the old one stops, and operations are replayed there. Each has a connection of its own, since Temporal's SDK takes
 * one Worker of a kind for a connection and task queue.
 */
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { TemporalConnection } from '../platform/connect-temporal.js';

interface Running {
  worker: Worker;
  ended: Promise<void>;
}

export class WorkflowHost {
  #current: Running | undefined;
  #isStopping = false;
  #settle!: { resolve: () => void; reject: (error: unknown) => void };
  /** Resolves once stopped; rejects if the current Worker fails. */
  readonly done = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));

  constructor(
    private readonly connect: () => Promise<TemporalConnection>,
    private readonly createWorker: (codePath: string, connection: NativeConnection) => Promise<Worker>,
  ) {
    this.done.catch(() => undefined);
  }

  /**
   * Runs the workflows of this bundle from now on; resolves once the previous Worker, if any, has stopped.
   *
   * @throws when the Worker can't be created; then the previous one keeps running
   */
  async run(codePath: string): Promise<void> {
    const temporal = await this.connect();
    let worker: Worker;
    try {
      worker = await this.createWorker(codePath, temporal.current);
    } catch (error) {
      await temporal.close();
      throw error;
    }
    temporal.onReplaced((connection) => (worker.connection = connection));
    const before = this.#current;
    const ended = worker.run().finally(() => temporal.close());
    const running = { worker, ended };
    this.#current = running;
    ended.then(
      () => this.#current === running && this.#settle.resolve(),
      (error: unknown) => this.#current === running && this.#settle.reject(error),
    );
    if (this.#isStopping) shutdown(running);
    if (before) {
      shutdown(before);
      await before.ended.catch(() => undefined);
    }
  }

  stop(): void {
    this.#isStopping = true;
    if (this.#current) shutdown(this.#current);
    else this.#settle.resolve();
  }
}

function shutdown({ worker }: Running): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
