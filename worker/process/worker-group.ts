/**
 * Workers that start and end together, on their own connection: Temporal's SDK takes one Worker of a kind per connection and task queue.
 */
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { TemporalConnection } from '../../platform/temporal/connect.js';
import { withTimeout } from '../../platform/with-timeout.js';

/** Time for the other Workers to stop once one has failed, in milliseconds: the process has to be restarted, not drained. */
const FAILURE_LIMIT_MS = 10_000;

export class WorkerGroup {
  /** Resolves once all have stopped; rejects if one fails. */
  readonly ended: Promise<void>;

  private constructor(
    private readonly workers: Worker[],
    temporal: TemporalConnection,
  ) {
    this.ended = allEnded(
      workers.map((worker) => worker.run()),
      () => this.shutdown(),
      () => temporal.close(),
    );
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

  get drainingCount(): number {
    return countDraining(this.workers);
  }

  /** Stops polling; running activities get the grace time. */
  shutdown(): void {
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}

/** Number of running activities, without local ones, which belong to a workflow task. */
export function countDraining(workers: Worker[]): number {
  return workers.reduce((sum, worker) => sum + worker.getStatus().numInFlightNonLocalActivities, 0);
}

/** Resolves once all have ended and the connection is closed. If one fails, stops the others and rejects with its error within 10 s. */
export async function allEnded(
  running: Promise<void>[],
  shutdown: () => void,
  closeConnection: () => Promise<void>,
): Promise<void> {
  try {
    await Promise.all(running);
  } catch (error) {
    shutdown();
    await withTimeout(Promise.allSettled(running), FAILURE_LIMIT_MS);
    // Workers that still run keep it open.
    await closeConnection().catch(() => undefined);
    throw error;
  }
  await closeConnection();
}
