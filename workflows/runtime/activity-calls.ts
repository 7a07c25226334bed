/** Calls of activities: their reports, and the author's line in errors that have none. */
import { ActivityFailure, ApplicationFailure, CancelledFailure, workflowInfo } from '@temporalio/workflow';
import { reportInFailure, isReportedResult, withoutReport } from '../../operations/wire/report.js';
import { authorsFrame, callIn } from '../../operations/thrown.js';
import { PAGE_WORKFLOW, PIPELINE_WORKFLOW } from '../../pipelines/pipeline.js';
import { addProgress, beginWork, state } from './state.js';
import { traceOutbound } from './trace.js';
import { failureOfArguments } from './values.js';

interface Call {
  activityType: string;
  /** Formatted when it is read, so a call costs no source map. Of ten frames: the sandbox fixes that limit. */
  at: { stack?: string };
}

const running = new Set<Call>();

export function runActivity(
  { args, activityType }: { args: unknown[]; activityType: string },
  run: () => Promise<unknown>,
): Promise<unknown> {
  const refused = failureOfArguments(args, `activity ${activityType}`);
  if (refused) return Promise.reject(refused);
  const endWork = beginWork();
  const ended = activityScheduled();
  const call: Call = { activityType, at: {} };
  // From the outermost interceptor on, or those frames would leave no room for the author's.
  Error.captureStackTrace(call.at, traceOutbound.scheduleActivity);
  running.add(call);
  const end = (queuedMs: number) => {
    running.delete(call);
    endWork();
    ended(queuedMs);
  };
  return run().then(
    (result) => {
      const report = isReportedResult(result) ? result : undefined;
      end(report?.queuedMs ?? 0);
      if (report?.progress) addProgress(report.progress, true);
      return report ? report.result : result;
    },
    (error: unknown) => {
      end(0);
      takeReport(error);
      addCall(error, call);
      throw error;
    },
  );
}

/** Activities that run on as the workflow returns, with the places of their calls; undefined if there are none. */
export function unawaitedCalls(): string | undefined {
  const { workflowType } = workflowInfo();
  if (workflowType === PIPELINE_WORKFLOW || workflowType === PAGE_WORKFLOW) return undefined;
  const own = [...running].filter(({ activityType }) => !activityType.startsWith('longhaul_'));
  const texts = own.map(({ activityType, at }) => {
    const place = callIn(at.stack);
    return place ? `${activityType} (called ${place})` : activityType;
  });
  return texts.join(', ') || undefined;
}

/** Adds a failed activity's reported progress, and removes the report from the details that authors see. */
function takeReport(error: unknown): void {
  const failure = error instanceof ActivityFailure ? error.cause : undefined;
  const progress = reportInFailure(failure);
  if (progress) addProgress(progress, false);
  if (failure instanceof ApplicationFailure || failure instanceof CancelledFailure)
    Object.assign(failure, { details: withoutReport(failure.details) });
}

/** If the error fails the workflow task, readers learn which call it was. */
function addCall(error: unknown, { at }: Call): void {
  if (!(error instanceof Error) || authorsFrame(error.stack)) return;
  const frame = authorsFrame(at.stack);
  if (!frame) return;
  error.stack = `${error.stack ?? ''}\n${frame}`;
  // The SDK passes a failure of Temporal's on as it came.
  if (error instanceof ActivityFailure && error.failure) error.failure.stackTrace = frame;
}

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
function activityScheduled(): (queuedMs: number) => void {
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
