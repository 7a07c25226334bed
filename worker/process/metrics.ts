/** Metrics of a worker: operations as their workflows report them, and activities as they start. */
import type { Info } from '@temporalio/activity';
import type { InjectedSinks } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import { LRUCache } from 'lru-cache';
import type { Client } from '@temporalio/client';
import type { MeasureSinks } from '../../operations/sinks.js';
import { count, observe, OTHER } from '../../platform/observe/metrics/index.js';
import { hostOfQueue } from '../../platform/temporal/host-presence.js';
import { temporalNowMs, temporalTime } from '../../platform/temporal/time.js';

/** Maximum number of tools with their own series. A worker doesn't know which tools the servers have. */
const MAX_TOOLS = 200;
/** Maximum number of operations whose first progress is remembered. */
const MAX_OPERATIONS = 10_000;
const STATUSES = ['completed', 'failed', 'canceled', 'timed_out'];

export class WorkerMetrics {
  readonly #tools = new Set<string>();
  readonly #progressed = new LRUCache<string, true>({ max: MAX_OPERATIONS });

  /** @param taskQueue the shared one */
  constructor(private readonly taskQueue: string) {}

  /** Sinks of the workflow runtime; the SDK skips them during replay. */
  sinks(): InjectedSinks<MeasureSinks> {
    return {
      longhaulMetrics: {
        closed: {
          fn: (_info, tool, status, durationMs) => {
            const labels = { tool: this.#label(tool), status };
            count('longhaul_operations_closed_total', labels);
            observe('longhaul_operation_duration_seconds', labels, durationMs / 1_000);
          },
        },
        firstProgress: {
          fn: ({ workflowId }: WorkflowInfo, tool, afterMs) => this.firstProgress(workflowId, tool, afterMs),
        },
        gotTurn: {
          fn: (_info, tool, waitedMs) =>
            observe('longhaul_turn_wait_seconds', { tool: this.#label(tool) }, waitedMs / 1_000),
        },
      },
    };
  }

  /** Measures an operation's first progress, once in this process. @param operationId its workflow ID */
  firstProgress(operationId: string, tool: string, afterMs: number): void {
    if (this.#progressed.has(operationId)) return;
    this.#progressed.set(operationId, true);
    observe('longhaul_operation_first_progress_seconds', { tool: this.#label(tool) }, afterMs / 1_000);
  }

  activityStarts({ isLocal, taskQueue }: Info, waitedMs: number): void {
    if (isLocal) return;
    const isOfHost = hostOfQueue(this.taskQueue, taskQueue) !== undefined;
    const queue = !isOfHost ? 'tools' : taskQueue.endsWith(':steps') ? 'steps' : 'host';
    observe('longhaul_activity_queue_seconds', { queue }, waitedMs / 1_000);
  }

  #label(tool: string): string {
    if (this.#tools.has(tool)) return tool;
    if (this.#tools.size >= MAX_TOOLS) return OTHER;
    this.#tools.add(tool);
    // Zeros make the first operation of each status an increase.
    for (const status of STATUSES) count('longhaul_operations_closed_total', { tool, status }, 0);
    return tool;
  }
}

/** How long activities waited for this worker, by Temporal's time: the local clock may be hours off. */
export class QueueWaits {
  constructor(
    private readonly temporal: { current: object },
    private readonly client: () => Client,
  ) {}

  /** Temporal's time in epoch milliseconds, or slightly earlier. */
  get nowMs(): number {
    return temporalTime(this.temporal.current).nowMs;
  }

  /** Reads Temporal's time unless a recent one is known. */
  async refresh(): Promise<void> {
    await temporalNowMs(this.client());
  }

  /** The attempt's minimum wait in milliseconds; 0 for a local activity, which its own worker runs. Call it as the attempt starts. */
  of({ isLocal, currentAttemptScheduledTimestampMs: scheduledMs }: Info): number {
    if (isLocal) return 0;
    const time = temporalTime(this.temporal.current);
    time.hearMs(scheduledMs);
    if (time.isDue) void this.refresh();
    return Math.max(0, time.nowMs - scheduledMs);
  }
}
