/**
 * Workers that start and end together, on a connection of their own: Temporal's SDK takes one Worker of a kind for a connection
 * and task queue.
 */
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { TemporalConnection } from '../platform/connect-temporal.js';

export class WorkerGroup {
  /** Resolves once all have stopped; rejects if one fails, after the others have stopped. */
  readonly ended: Promise<void>;

  private constructor(
    private readonly workers: Worker[],
    temporal: TemporalConnection,
  ) {
    this.ended = allEnded(
      workers.map((worker) => worker.run()),
      () => this.shutdown(),
    ).finally(() => temporal.close());
    this.ended.catch(() => undefined);
  }

  /** @throws when a Worker can't be created */
  static async start(
    connect: () => Promise<TemporalConnection>,
    create: (connection: NativeConnection) => Promise<Worker[]>,
  ): Promise<WorkerGroup> {
    const temporal = await connect();
    try {
      const workers = await create(temporal.current);
      temporal.onReplaced((connection) => workers.forEach((worker) => (worker.connection = connection)));
      return new WorkerGroup(workers, temporal);
    } catch (error) {
      await temporal.close();
      throw error;
    }
  }

  /** Number of activities that run now. */
  get activityCount(): number {
    return this.workers.reduce((sum, worker) => sum + worker.getStatus().numInFlightActivities, 0);
  }

  /** Stops polling; running activities get the grace time. */
  shutdown(): void {
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}

/** Resolves once all have ended; if one fails, stops the others and rejects with its error. */
export async function allEnded(running: Promise<void>[], shutdown: () => void): Promise<void> {
  try {
    await Promise.all(running);
  } catch (error) {
    shutdown();
    await Promise.allSettled(running);
    throw error;
  }
}
