/** Time for which all of an operation's work waited for a worker. Estimates of durations exclude it. */
import { workflowInfo } from '@temporalio/workflow';
import { state } from './state.js';

/** One activity, in epoch milliseconds. */
interface Span {
  scheduledAt: number;
  startedAt: number;
  endedAt: number;
}

let spans: Span[] = [];
let openCount = 0;

/** Adds the time between the operation's start and its first workflow task. */
export function countFirstQueueTime(): void {
  const { continuedFromExecutionRunId, startTime } = workflowInfo();
  if (continuedFromExecutionRunId === undefined) addQueued(Date.now() - startTime.getTime());
}

/** @returns callback for the activity's end; takes its time in queue, in milliseconds */
export function activityScheduled(): (queuedMs: number) => void {
  const scheduledAt = Date.now();
  openCount += 1;
  return (queuedMs) => {
    const endedAt = Date.now();
    spans.push({ scheduledAt, startedAt: Math.min(endedAt, scheduledAt + queuedMs), endedAt });
    openCount -= 1;
    if (openCount > 0) return;
    addQueued(queuedAlone(spans));
    spans = [];
  };
}

/** Time in which activities waited and none ran, in milliseconds. */
function queuedAlone(all: Span[]): number {
  const edges = all
    .flatMap(({ scheduledAt, startedAt, endedAt }) => [
      { at: scheduledAt, queued: 1, running: 0 },
      { at: startedAt, queued: -1, running: 1 },
      { at: endedAt, queued: 0, running: -1 },
    ])
    .sort((one, other) => one.at - other.at);
  let [total, queued, running, last] = [0, 0, 0, 0];
  for (const edge of edges) {
    if (queued > 0 && running === 0) total += edge.at - last;
    queued += edge.queued;
    running += edge.running;
    last = edge.at;
  }
  return total;
}

function addQueued(queuedMs: number): void {
  if (queuedMs > 0) state().queuedMs = (state().queuedMs ?? 0) + queuedMs;
}
