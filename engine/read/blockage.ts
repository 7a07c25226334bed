/**
 * Blockages of open operations: a pause, no worker, failing workflow code, retried activities. Types of built-in activities are internal,
 * so messages name jobs and steps instead.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '../../platform/temporal/internal/payloads.js';
import proto from '@temporalio/proto';
import { humanDuration } from '../../operations/tool/budgets.js';
import { waitIn } from '../../operations/wire/report.js';
import { thrownText } from '../../operations/thrown.js';
import { cutText } from '../../operations/wire/state.js';
import { isOfVersion, versionIn, type DeploymentVersion } from '../../platform/temporal/deployments.js';
import {
  hostOfQueue,
  hasJustPolled,
  isPolling,
  sincePollMs,
  type Poller,
  type QueueWork,
} from '../../platform/temporal/host-presence.js';
import type { PendingActivity } from './start-memo.js';
import { activitySummary, decodeReadable } from './history.js';
import { lastTaskFailure } from './task-failure.js';
import { describeFatal } from '../../platform/storage/fatal-evaluations.js';
import { timestampMs, type Timestamp } from '../../platform/temporal/time.js';
import type { TemporalClient } from '../temporal/client.js';

const { PendingWorkflowTaskState, PendingActivityState, WorkflowExecutionStatus } =
  proto.temporal.api.enums.v1;

/** Maximum size of a text in a status message. */
const LINE_BYTES = 1_000;

/** How long a workflow task or activity waits before "no worker" is reported, in milliseconds. */
const NO_WORKER_MS = 10_000;

/**
 * Wait before a workflow task's build is looked up, in milliseconds. Before, a gone worker's task waits for the sticky time-out: up to 10
 * s.
 */
const NO_BUILD_MS = 5_000;

/** How long after a retry's start the status message shows its reason, in milliseconds. */
const RETRY_SHOWN_MS = 5_000;

/** Number of failures after which the reason stays beside the attempt. */
const SHOWN_FAILURES = 3;

/** Describes what blocks an open workflow, in one line. */
export async function describeBlockage(
  temporal: TemporalClient,
  raw: WorkflowExecutionDescription['raw'],
  workflowId: string,
): Promise<string | undefined> {
  const { pendingWorkflowTask: task } = raw;
  const paused = workflowPause(raw);
  if (paused !== undefined) return paused;
  const activities = raw.pendingActivities ?? [];
  if (!task && activities.length === 0) return undefined;
  const nowMs = await temporal.nowMs();
  const waitedMs = (since: Timestamp | null | undefined) => (since ? nowMs - timestampMs(since) : 0);
  if (task && Number(task.attempt ?? 1) > 1) {
    const attempt = `(attempt ${task.attempt?.toString()})`;
    const fatal = await fatalEvaluation(temporal, raw);
    if (fatal !== undefined) return `the workflow's code keeps failing ${attempt}: ${fatal}`;
    const failure = await lastTaskFailure(temporal, workflowId);
    const waitsFor = /storage [^ ]+(?: at [^ ]+)?: .*/.exec(failure?.message ?? '')?.[0];
    if (waitsFor !== undefined) return `waiting for ${waitsFor} ${attempt}`;
    if (failure) return `the workflow's code keeps failing ${attempt}: ${failure.text}: ${failure.cure}`;
  }
  if (task?.state === PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED) {
    const waiting = waitedMs(task.originalScheduledTime ?? task.scheduledTime);
    const queue = raw.workflowExecutionInfo?.taskQueue || temporal.taskQueue;
    if (queue !== temporal.taskQueue) {
      if (waiting > NO_WORKER_MS)
        return `no worker takes work from task queue "${queue}" (for ${humanDuration(waiting / 1000)})`;
    } else if (waiting > NO_BUILD_MS) {
      const missing = await describeMissingBuild(temporal, raw, queue, 'workflows');
      if (missing !== undefined) return missing;
    }
    if (waiting > NO_WORKER_MS) return `no worker has taken the work for ${humanDuration(waiting / 1000)}`;
  }
  const { PENDING_ACTIVITY_STATE_SCHEDULED, PENDING_ACTIVITY_STATE_STARTED } = PendingActivityState;
  // While one activity runs, others may wait for a free slot.
  const isAnyRunning = activities.some(({ state }) => state === PENDING_ACTIVITY_STATE_STARTED);
  for (const activity of activities) {
    if (activity.paused)
      return `${await pendingActivityName(temporal, workflowId, activity)} is ${activityPause(activity)}`;
    const waitsFor = await outcomeWait(temporal, activity);
    if (waitsFor !== undefined)
      return `${await pendingActivityName(temporal, workflowId, activity)} is done and waits for ${waitsFor}`;
    const isScheduled = activity.state === PENDING_ACTIVITY_STATE_SCHEDULED;
    if (isRetried(activity) && (isScheduled || waitedMs(activity.lastStartedTime) < RETRY_SHOWN_MS)) {
      const why = await lastFailureText(temporal, activity);
      const name = await pendingActivityName(temporal, workflowId, activity);
      return `${name} is being retried (attempt ${activity.attempt})${why ? `: ${why}` : ''}`;
    }
    const waiting = waitedMs(activity.scheduledTime);
    if (isScheduled && !isAnyRunning && waiting > NO_WORKER_MS) {
      const name = await pendingActivityName(temporal, workflowId, activity);
      const queue = activity.activityOptions?.taskQueue?.name ?? '';
      if (queue === temporal.taskQueue) {
        const missing = await describeMissingBuild(temporal, raw, queue, 'activities');
        if (missing !== undefined) return `${name} ${missing}`;
      }
      const host = hostOfQueue(temporal.taskQueue, queue);
      const missing = host === undefined ? 'no worker has taken' : `host ${host} has not taken`;
      return `${missing} ${name} for ${humanDuration(waiting / 1000)}`;
    }
  }
  return undefined;
}

/** The harm that the code did to its workers. The history of a workflow task that timed out has no message. */
async function fatalEvaluation(
  { storage }: TemporalClient,
  { workflowExecutionInfo }: RawDescription,
): Promise<string | undefined> {
  const { runId } = workflowExecutionInfo?.execution ?? {};
  if (!runId) return undefined;
  // Without storage, the history has a message at most.
  return describeFatal(storage, { runId }).catch(() => undefined);
}

/** Who has paused a workflow in Temporal, since when and why; undefined if nobody has. */
function workflowPause({ workflowExecutionInfo, workflowExtendedInfo }: RawDescription): string | undefined {
  if (workflowExecutionInfo?.status !== WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_PAUSED)
    return undefined;
  const { pausedTime, ...by } = workflowExtendedInfo?.pauseInfo ?? {};
  return pauseLine(by, pausedTime);
}

/** The same for a paused activity, whose attempt may still run. */
function activityPause({ state, pauseInfo }: PendingActivity): string {
  const line = pauseLine(pauseInfo?.manual ?? pauseInfo?.rule, pauseInfo?.pauseTime);
  const isRunning = state === PendingActivityState.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED;
  return isRunning ? `${line}; its attempt still runs` : line;
}

function pauseLine(
  by: { identity?: string | null; reason?: string | null } | null | undefined,
  at: Timestamp | null | undefined,
): string {
  // To the minute.
  const since = at ? ` since ${new Date(timestampMs(at)).toISOString().slice(0, 16)}Z` : '';
  return shortLine(`paused by ${by?.identity || 'an operator'}${since}${by?.reason ? `: ${by.reason}` : ''}`);
}

/** The first line of a text, cut for a status message. */
export function shortLine(text: string): string {
  return cutText(text.split('\n', 1)[0]!, LINE_BYTES);
}

/** The error of the attempt before, with its place. */
async function lastFailureText(
  { dataConverter }: TemporalClient,
  { activityType, lastFailure }: PendingActivity,
): Promise<string | undefined> {
  const failure = await decodeOptionalFailureToOptionalError(dataConverter, lastFailure).catch(
    () => undefined,
  );
  if (!failure) return undefined;
  const { message, stack } = failure;
  return thrownText({ message: activityFailureMessage(activityType?.name ?? '', message), stack });
}

/**
 * Attempt numbers of retried activities, e.g. `attempt 2`; undefined while all are at their first. After three failures, the next attempt
 * is unlikely to succeed, so the last reason stays.
 */
export async function describeRetries(
  temporal: TemporalClient,
  { pendingActivities }: WorkflowExecutionDescription['raw'],
  workflowId: string,
): Promise<string | undefined> {
  const activities = pendingActivities ?? [];
  const retried = activities.filter(isRetried);
  if (retried.length === 0) return undefined;
  const attemptOf = async (one: PendingActivity) => {
    const why = (one.attempt ?? 1) > SHOWN_FAILURES ? await lastFailureText(temporal, one) : undefined;
    return `attempt ${one.attempt}${why ? `; the last failed: ${why}` : ''}`;
  };
  if (activities.length === 1) return attemptOf(retried[0]!);
  const each = retried.map(
    async (one) => `${await pendingActivityName(temporal, workflowId, one)}: ${await attemptOf(one)}`,
  );
  return (await Promise.all(each)).join(', ');
}

/** Why the outcome of a finished activity can't be stored; undefined if it can, or the work continues. */
async function outcomeWait(
  temporal: TemporalClient,
  { heartbeatDetails }: PendingActivity,
): Promise<string | undefined> {
  if (!heartbeatDetails?.payloads?.length) return undefined;
  return waitIn((await decodeReadable(temporal, heartbeatDetails.payloads))[0]);
}

function isRetried({ attempt }: PendingActivity): boolean {
  return (attempt ?? 1) > 1;
}

/** Display name of a pending activity. Temporal's description has no summaries, so a built-in activity's is read from the history. */
export async function pendingActivityName(
  temporal: TemporalClient,
  workflowId: string,
  { activityType, activityId }: PendingActivity,
): Promise<string> {
  const type = activityType?.name ?? 'an activity';
  if (!isBuiltinActivity(type) || !activityId) return activityName(type, undefined);
  return activityName(type, await activitySummary(temporal, workflowId, activityId));
}

const { VersioningBehavior } = proto.temporal.api.enums.v1;
const { VERSIONING_BEHAVIOR_PINNED, VERSIONING_BEHAVIOR_AUTO_UPGRADE } = VersioningBehavior;

type RawDescription = WorkflowExecutionDescription['raw'];

/** The version that a workflow is pinned to; undefined if it runs on any, or no worker has taken it yet. */
function pinnedVersionOf({ workflowExecutionInfo }: RawDescription): DeploymentVersion | undefined {
  const info = workflowExecutionInfo?.versioningInfo;
  const override = info?.versioningOverride;
  if (override?.autoUpgrade || override?.behavior === VERSIONING_BEHAVIOR_AUTO_UPGRADE) return undefined;
  return versionIn(
    override?.pinned?.version ??
      (info?.behavior === VERSIONING_BEHAVIOR_PINNED ? info.deploymentVersion : undefined),
  );
}

/**
 * Names the build that a task waits for, for a status message; undefined if that build polls, or any build may take the task. Temporal's
 * description names the build of an operation, even a retired one without workers.
 */
async function describeMissingBuild(
  temporal: TemporalClient,
  raw: RawDescription,
  queue: string,
  work: QueueWork,
): Promise<string | undefined> {
  // The message then says how long the work has waited.
  const state = await temporal.queueState(queue).catch(() => undefined);
  if (!state) return undefined;
  const isThere = work === 'workflows' ? hasJustPolled : isPolling;
  const pinned = pinnedVersionOf(raw);
  if (pinned !== undefined) {
    const pollers = state.pollers.filter((poller) => isOfVersion(poller, pinned));
    if (pollers.some(isThere)) return undefined;
    return (
      `waits for a worker of build ${pinned.buildId}; ${lastPoll(pollers)}: ` +
      `start one of that release, or see \`longhaul deploy status\``
    );
  }
  if (work === 'activities') return undefined;
  const { current } = state;
  const others = state.pollers.filter((poller) => !isOfVersion(poller, current) && isPolling(poller));
  // Unversioned workers take tasks while no build is current.
  if (
    others.length === 0 ||
    (current === undefined &&
      state.pollers.some((poller) => poller.buildId === undefined && isPolling(poller)))
  )
    return undefined;
  if (current === undefined)
    return 'no build of the workers is current, so new operations wait: see `longhaul deploy status`';
  const pollers = state.pollers.filter((poller) => isOfVersion(poller, current));
  if (pollers.some(isThere)) return undefined;
  return (
    `waits for a worker of the current build ${current.buildId}; ${lastPoll(pollers)}: ` +
    `start one, or make another build current: see \`longhaul deploy status\``
  );
}

/** Temporal forgets pollers after 5 minutes, and when it restarts: without any, nobody knows how long it has been. */
function lastPoll([latest]: Poller[]): string {
  return latest ? `none has polled for ${humanDuration(sincePollMs(latest) / 1_000)}` : 'none polls';
}

/** By activity type. The summary holds the names of job and step. */
const BUILTIN_NAMES: Readonly<Record<string, (summary: string | undefined) => string>> = {
  runPipelineStep: (summary) =>
    summary === undefined ? 'a step' : `job ${summary.replace(' / ', ' / step ')}`,
  openPipelineWorkspace: (summary) => `the workspace of ${jobIn(summary)}`,
  awaitPipelineHost: (summary) => summary ?? 'a host',
  readPipelinePage: () => 'reading the items that an earlier run had completed',
  savePipelineArtifacts: (summary) => `saving the artifacts of ${jobIn(summary)}`,
  longhaul_request_cancel: () => 'the cancel request',
  longhaul_ask_turn: () => 'the request for a turn',
  longhaul_return_turn: () => 'the return of the turn',
};

export const BUILTIN_ACTIVITY_TYPES: readonly string[] = Object.keys(BUILTIN_NAMES);

/** Whether an activity type ships with Longhaul, so users don't know its name. */
function isBuiltinActivity(type: string): boolean {
  return Object.hasOwn(BUILTIN_NAMES, type);
}

/** Name in messages: `job build / step Test` for a pipeline step, or the type. @param summary `build / Test`; undefined if unknown */
export function activityName(type: string, summary: string | undefined): string {
  return BUILTIN_NAMES[type]?.(summary) ?? type;
}

/** Hides internal names: if an activity is missing, Temporal's workers list all registered ones. */
export function activityFailureMessage(type: string, message: string): string {
  return isBuiltinActivity(type) && message.includes(type)
    ? 'the worker that ran it has another version of Longhaul'
    : message;
}

/** `build: workspace` -> `job build`. */
function jobIn(summary: string | undefined): string {
  return summary === undefined ? 'a job' : `job ${summary.replace(/: [^:]*$/, '')}`;
}
