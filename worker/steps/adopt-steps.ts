/**
 * Adopts pipeline steps that run on this host without an activity attempt, because their worker has ended or handed them over.
 * It heartbeats and reports by task token, which Temporal accepts from any process.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  WorkflowNotFoundError,
  type Client,
} from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { KILLED_FIRST, stepInDoubt, stepNotRun } from './failures.js';
import { hostId } from './host.js';
import type { FollowedStep, HostSteps } from './host-steps.js';
import { stepOutcome } from './outcome.js';
import { runningSteps, runOf, type RunningStep } from './running.js';
import {
  OUTCOME_REFUSED,
  type ActivityOutcome,
  type ReportOutcome,
} from '../../activities/runtime/context.js';
import type { ActivityReport } from '../../operations/wire/report.js';
import { OPERATION_QUERY } from '../../operations/wire/index.js';
import { childName } from '../../pipelines/run.js';
import type { Settings } from '../../platform/settings/index.js';
import { isOpen } from '../../platform/temporal/find-workflow.js';
import type { Logger } from '../../platform/observe/log.js';
import { inWork } from '../../platform/observe/work-context.js';

const CALL_LIMIT_MS = 10_000;
/** Longest heartbeat interval, in milliseconds: a quarter of a step's heartbeat timeout. */
const LONGEST_BEAT_INTERVAL_MS = 30_000;

export interface AdoptionContext {
  settings: Pick<Settings, 'home' | 'taskQueue' | 'heartbeatSeconds'>;
  steps: HostSteps;
  client: () => Client;
  reportOutcome: ReportOutcome;
  logger: Logger;
}

/** Adopts the worker's steps that nobody reports; several workers may call it at once. `settled` ends with the last adopted step. */
export async function adoptSteps(
  context: AdoptionContext,
): Promise<{ adopted: RunningStep[]; settled: Promise<unknown> }> {
  const { settings, steps, client } = context;
  const { namespace } = client().options;
  const adopted: RunningStep[] = [];
  const settling: Promise<void>[] = [];
  for (const found of await runningSteps(settings.home)) {
    if (found.namespace !== namespace || found.taskQueue !== settings.taskQueue) continue;
    if (found.follower === 'other' || steps.isAttended(found.stepId)) continue;
    const run = await runOf(settings.home, found);
    const followed = run && (await steps.adopt(found, run));
    if (run ? !followed : !(await steps.claim(found))) continue;
    // An activity attempt may have taken the step over meanwhile. It then has the token that Temporal accepts.
    if (steps.isAttended(found.stepId)) continue;
    const { token, step } = found;
    adopted.push(found);
    settling.push(
      inWork({ ...found.work, token }, () => {
        context.logger.info({ job: childName(step.child), step: step.name }, 'adopted a step');
        return followed ? supervise(found, followed, context) : reportLost(found, context);
      }),
    );
  }
  return { adopted, settled: Promise.all(settling) };
}

/** Reports a step without a recorded start: it never started, or it removed its journal and may have run. */
async function reportLost(running: RunningStep, context: AdoptionContext): Promise<void> {
  const error = running.isStarting
    ? stepNotRun(running.step, KILLED_FIRST)
    : stepInDoubt(running.step, 'worker', { outputs: {}, lastLines: [] });
  await report(running, { status: 'failed', error }, undefined, context);
}

/** Heartbeats for a step until it ends, then reports its outcome. Leaves the step to another attempt of its activity, if one comes. */
async function supervise(
  running: RunningStep,
  { follower, end }: FollowedStep,
  context: AdoptionContext,
): Promise<void> {
  let line: string | undefined;
  const reportNow = (): ActivityReport => ({
    longhaul: 'report',
    ...(line === undefined ? {} : { progress: { progress: 0, message: line } }),
  });
  const attendance = follower.attend('worker', (latest) => (line = latest));
  context.steps.onChange();
  const over = new AbortController();
  attendance.superseded.addEventListener('abort', () => over.abort());
  const isLeft = once(over.signal, 'abort').then(() => undefined);
  try {
    const isAwaited = heartbeat(running, follower, reportNow, over.signal, context);
    const ended = await Promise.race([
      follower.ended,
      isLeft,
      isAwaited.then((isUnneeded) => (isUnneeded ? follower.ended : undefined)),
    ]);
    if (!ended) return;
    const outcome = await stepOutcome(running.step, await end(ended)).then(
      (result): ActivityOutcome => ({ status: 'completed', result }),
      (error: unknown): ActivityOutcome =>
        error instanceof CancelledFailure ? { status: 'canceled' } : { status: 'failed', error },
    );
    await report(running, outcome, reportNow(), context);
  } finally {
    over.abort();
    attendance.end();
    context.steps.onChange();
  }
}

/**
 * Heartbeats until `signal` fires or Temporal no longer waits for this attempt. Ends the step if its operation is cancelled,
 * its workflow run has closed, or its job was moved to another host.
 *
 * @returns whether nobody needs the step; false if another attempt of the activity will come
 */
async function heartbeat(
  running: RunningStep,
  follower: FollowedStep['follower'],
  reportNow: () => ActivityReport,
  signal: AbortSignal,
  { settings, client, logger }: AdoptionContext,
): Promise<boolean> {
  const taskToken = Buffer.from(running.taskToken, 'base64');
  const intervalMs = Math.min(settings.heartbeatSeconds * 1_000, LONGEST_BEAT_INTERVAL_MS);
  for (;;) {
    try {
      const temporal = client();
      await temporal.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
        temporal.activity.heartbeat(taskToken, reportNow()),
      );
    } catch (error) {
      if (error instanceof ActivityCancelledError) void follower.stop('canceled');
      else if (error instanceof ActivityNotFoundError) {
        const isUnneeded = !(await isNeeded(running, settings.home, client()));
        if (isUnneeded) await follower.stop('closed');
        return isUnneeded;
      }
      // Temporal is down, or an operator has paused or reset the activity: the step may continue.
      logger.debug({ err: error }, 'the heartbeat of an adopted step was refused');
    }
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return new Promise(() => undefined);
  }
}

/** Whether a step's workflow run is open and has the job on this host. True if Temporal doesn't answer, or the run is paused. */
async function isNeeded(
  { workflowId, runId, step }: RunningStep,
  home: string,
  client: Client,
): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId, runId);
  try {
    const described = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () => handle.describe());
    if (!isOpen(described)) return false;
    const { children = [] } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      handle.query(OPERATION_QUERY),
    );
    const job = children.find(({ name }) => name === childName(step.child));
    return job?.host === undefined || job.host === hostId(home);
  } catch (error) {
    return !(error instanceof WorkflowNotFoundError);
  }
}

async function report(
  { stepId, taskToken, workflowId, runId, activityId, attempt }: RunningStep,
  outcome: ActivityOutcome,
  lastReport: ActivityReport | undefined,
  { steps, reportOutcome, logger }: AdoptionContext,
): Promise<void> {
  const ended = {
    ...{ taskToken: Buffer.from(taskToken, 'base64'), workflowId, runId, lastReport },
    onRefused: (reason: string) =>
      logger.warn({ workflowId, runId, activityId, attempt, reason }, OUTCOME_REFUSED),
  };
  if (await reportOutcome(ended, outcome)) await steps.forget(stepId);
}
