/** Runs a step at most once, by the journal on the host's disk, and determines how it ended. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompleteAsyncError } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import { childName, type RunStep, type StepDone } from '../../pipelines/run.js';
import type { Settings } from '../../platform/settings/index.js';
import { defined } from '../../operations/json/defined.js';
import { currentWork } from '../../platform/observe/work-context.js';
import { bootId } from '../../platform/home/process-identity.js';
import { loadSecret } from '../../platform/home/secret.js';
import { isStorageWait } from '../../platform/storage/index.js';
import { stepLogPrefix } from '../../platform/storage/keys.js';
import type { AttemptRecord } from '../../activities/runtime/attempt-span.js';
import type { KeptOutcome } from '../../activities/runtime/context.js';
import { awaitStorage } from '../../activities/runtime/await-storage.js';
import { stepEnvironment, stepUmask, stepVariables, workingDirectory } from './environment.js';
import { notStarted, describeSystemError, stepNotRun, workspaceMissing } from './failures.js';
import { hostId } from './host.js';
import { timeoutOf, type FollowedStep, type HostSteps } from './host-steps.js';
import { findAttempts, removeStart, outputFile, prepareRun, recordStart, type Attempt } from './journal.js';
import { cgroupOf, findContainment, findOnPath, makeCgroup, removeCgroup } from './containment.js';
import { startLauncher, type LaunchOptions } from './launcher/index.js';
import { childPaths, type ChildPaths } from './layout.js';
import { headingOf, StepLog } from './output/log.js';
import { masking } from './output/mask.js';
import { cancelled, earlierResult, stepOutcome, type StepEnd, traceVariables } from './outcome.js';
import {
  recordRunning,
  releaseRunning,
  runningSteps,
  type RunningStep,
  type StepAttempt,
} from './running.js';
import { secretsDigest, secretsOf } from './output/secrets.js';
import { writeCursor } from './output/spool.js';

/** How long one attempt waits for storage or room on a full disk, in milliseconds: less than a step's shortest timeout. */
const ROOM_LIMIT_MS = 5 * 60_000;

/** Interval between two looks for steps of a replaced workflow run, in milliseconds. */
const REPLACED_LOOK_MS = 100;
/** After this time in milliseconds, a worker that hasn't ended its step counts as hanging, and any worker may claim the step. */
const REPLACED_LIMIT_MS = 60_000;

/** Why an attempt stops waiting for its step. `given_up`: Temporal ended the attempt by a timeout, pause or reset. */
export type StopReason = 'canceled' | 'shutdown' | 'given_up';

export interface StepContext extends StepAttempt {
  settings: Pick<Settings, 'home' | 'project' | 'stepEnvironment' | 'stepsEndWithWorker'>;
  steps: HostSteps;
  /** Span of the attempt; undefined if none is recorded. */
  span?: AttemptRecord;
  /** Ends the wait for the step. Also ends the step if its reason, a {@link StopReason}, is `canceled`. */
  stop: AbortSignal;
  /** Gets the last line of the log, at most once a second. */
  onLine?: (line: string) => void;
  /** Gets the step's outcome for its report. Default: it counts as reported. */
  keep?: (kept: KeptOutcome) => void;
  /** The worker's environment. Default: this process's. */
  environment?: NodeJS.ProcessEnv;
  /** Maximum wait on a full disk before the start, in milliseconds. Default: 5 min. */
  roomLimitMs?: number;
}

/**
 * Runs a step, unless the journal says that it has run; waits for its end if it already runs. Waits while a full disk or
 * unavailable storage prevents its start or the writing of its log.
 *
 * @throws ApplicationFailure `StepFailed` (retryable), `StepTimedOut`, `StepInDoubt`, or a failure of its environment
 * @throws CancelledFailure when it was cancelled; its processes have ended by then
 * @throws CompleteAsyncError when the step runs on, and its end is reported by its task token or by another attempt
 */
export async function runStep(step: RunStep, context: StepContext): Promise<StepDone> {
  const { settings, operationId } = context;
  const paths = childPaths(settings.home, operationId, step.child);
  let takenOver: string | undefined;
  const earlier = await earlierResult(step, await findAttempts(paths, step.step), {
    ...context,
    endOf: async (run) => {
      const running = runningStepOf(step, run.start.stepId, context);
      takenOver = running.stepId;
      return attend(await context.steps.takeOver(running, run), context);
    },
  });
  if (earlier) return earlier;
  // The previous attempt already reported this step's end, or the end doesn't count.
  if (takenOver !== undefined) await context.steps.forget(takenOver);
  if (context.stop.aborted) throw stoppedBefore(step, context.stop.reason as StopReason);
  try {
    // After an error about storage, nothing has started.
    return await awaitStorage(
      async () => stepOutcome(step, await attend(await start(step, context, paths), context)),
      { signal: context.stop, limitMs: context.roomLimitMs ?? ROOM_LIMIT_MS, onWait: context.onLine },
    );
  } catch (error) {
    if (!isStorageWait(error)) throw error;
    if (context.stop.aborted) throw stoppedBefore(step, context.stop.reason as StopReason);
    throw stepNotRun(step, describeSystemError(error));
  }
}

/** Waits for a step's end as the attempt that reports it. @throws CompleteAsyncError when the step runs on without this attempt */
async function attend({ stepId, follower, end }: FollowedStep, context: StepContext): Promise<StepEnd> {
  const { steps, stop, settings, onLine, keep } = context;
  const { superseded, ...attendance } = follower.attend('activity', onLine);
  let leave!: () => void;
  const left = new Promise<undefined>((resolve) => (leave = () => resolve(undefined)));
  const onStop = () => {
    const reason = stop.reason as StopReason;
    if (reason === 'canceled') void follower.stop('canceled');
    else if (reason === 'shutdown' && settings.stepsEndWithWorker) void follower.stop('worker');
    else leave();
  };
  stop.addEventListener('abort', onStop);
  superseded.addEventListener('abort', leave);
  if (stop.aborted) onStop();
  try {
    const ended = await Promise.race([follower.ended, left]);
    const kept = {
      forget: () => steps.forget(stepId),
      leave() {
        attendance.end();
        steps.leaveSpan(stepId);
        steps.onChange();
      },
    };
    if (!ended) {
      kept.leave();
      throw new CompleteAsyncError();
    }
    if (keep) keep(kept);
    else await kept.forget();
    return await end(ended);
  } finally {
    stop.removeEventListener('abort', onStop);
    superseded.removeEventListener('abort', leave);
  }
}

function stoppedBefore(step: RunStep, reason: StopReason): Error {
  return reason === 'canceled' ? cancelled(step) : stepNotRun(step);
}

function runningStepOf(step: RunStep, stepId: string, context: StepContext): RunningStep {
  const { operationId, token, workflowId, runId, namespace, taskQueue } = context;
  const { activityId, attempt, taskToken } = context;
  const { tool, principal, requestId, trace } = currentWork() ?? {};
  return {
    ...{ stepId, operationId, token, workflowId, runId, namespace, taskQueue },
    ...{ activityId, attempt, taskToken },
    step,
    work: defined({ tool, principal, requestId, trace }),
  };
}

/**
 * @throws ApplicationFailure `StepNotStarted`, `StepNotRun`, `SecretUnusable` or `WorkspaceMissing`, CancelledFailure, or an
 *   error about a full disk or storage; nothing has started then
 */
async function start(step: RunStep, context: StepContext, paths: ChildPaths): Promise<FollowedStep> {
  const { settings, steps, workflowId, runId, attempt } = context;
  const secrets = secretsOf(step.secrets, hostId(settings.home), context.environment);
  await stat(paths.workspace).catch(() => {
    throw workspaceMissing(step, hostId(settings.home));
  });
  await awaitReplacedRuns(step, context);
  const stepId = randomUUID();
  const running = runningStepOf(step, stepId, context);
  let recorded: string | undefined;
  let cgroup: string | undefined;
  try {
    return await steps.start(running, async () => {
      // Again: when two runs' steps start at once, at least one of them sees the other's record.
      await awaitReplacedRuns(step, context);
      const attempts = await findAttempts(paths, step.step);
      const launch = await prepare(step, stepId, context, { paths, secrets, attempts });
      const { folder } = launch;
      const containment = steps.options.containment ?? (await findContainment(launch.tools));
      cgroup = cgroupOf(containment, stepId);
      const startedAt = new Date();
      recorded = folder;
      await recordStart(folder, {
        ...{ stepId, workflowId, runId, attempt, boot: bootId(), startedAt: startedAt.toISOString() },
        span: context.span,
        cgroup,
        ...(step.secrets.length
          ? { secretsDigest: secretsDigest(loadSecret(settings.home), stepId, secrets) }
          : {}),
      });
      const hidden = masking(Object.values(secrets));
      const prefix = stepLogPrefix(context.operationId, childName(step.child), step.step);
      const log = new StepLog({ storage: steps.options.storage, prefix, masking: hidden });
      const isInNewRun = attempts.every((earlier) => earlier.start.runId !== runId);
      if (attempts.length) await log.heading(headingOf(attempts.length + 1, startedAt, isInNewRun));
      const cursor = { file: 0, offset: 0, covered: 0, logBytes: await log.size() };
      await writeCursor(folder, cursor);
      // The journal says already that the step may run.
      await recordRunning(settings.home, running);
      const contained = cgroup && makeCgroup(cgroup) ? { cgroup } : { subreaper: containment.subreaper };
      const launcher = await startLauncher({ ...launch, ...contained });
      return {
        folder,
        cgroup,
        masking: hidden,
        cursor,
        launcher,
        startedAt: startedAt.toISOString(),
        span: context.span,
      };
    });
  } catch (error) {
    if (recorded) await removeStart(recorded);
    if (cgroup) removeCgroup(cgroup);
    if (isStorageWait(error) || error instanceof TemporalFailure) throw error;
    throw notStarted(step, describeSystemError(error));
  }
}

async function prepare(
  step: RunStep,
  stepId: string,
  { settings, steps, token, attempt, span, environment }: StepContext,
  { paths, secrets, attempts }: { paths: ChildPaths; secrets: Record<string, string>; attempts: Attempt[] },
): Promise<LaunchOptions> {
  const last = attempts.findLast(({ round }) => round === step.round)?.number ?? 0;
  const folder = join(paths.steps, String(step.step), `${step.round}.${Math.max(attempt, last + 1)}`);
  const base = stepVariables(settings, environment);
  const bash = findOnPath('bash', base['PATH']);
  if (!bash)
    throw new Error(`there is no bash on the worker's PATH (${base['PATH'] ?? 'not set'}): install it`);
  const launch = {
    ...{ folder, stepId, bash },
    workingDirectory: await workingDirectory(step, paths),
    environment: await stepEnvironment(step, {
      ...{ paths, token, secrets, base },
      project: settings.project,
      trace: traceVariables(currentWork()?.trace, span, stepId),
      attempt: attempts.length + 1,
      outputFile: outputFile(folder),
    }),
    tools: base['PATH'] ?? '',
    umask: stepUmask(),
    graceMs: steps.graceMs,
    timeoutMs: timeoutOf(step),
    endsWithWorker: settings.stepsEndWithWorker,
  };
  await prepareRun(folder, step.run);
  return launch;
}

/**
 * Waits until no step of another workflow run is left in the child's workspace. After a reset, a running step continues until
 * its worker's next heartbeat, which Temporal answers with "not found". Two steps may wait for each other, because neither knows
 * which run was replaced. The heartbeat of the replaced run's activity ends its wait.
 *
 * @throws ApplicationFailure `StepNotRun` or CancelledFailure when the wait was ended
 */
async function awaitReplacedRuns(step: RunStep, context: StepContext): Promise<void> {
  const { settings, operationId, runId, stop, onLine } = context;
  const { home } = settings;
  const began = performance.now();
  for (let look = 1; !stop.aborted; look += 1) {
    const left = (await runningSteps(home)).filter(
      (running) =>
        running.operationId === operationId &&
        running.runId !== runId &&
        childName(running.step.child) === childName(step.child),
    );
    if (left.length === 0) return;
    if (look === 1) onLine?.('waiting for the end of a step of the replaced workflow run');
    if (performance.now() - began > REPLACED_LIMIT_MS)
      for (const found of left) if (found.follower === 'other') await releaseRunning(home, found);
    await sleep(REPLACED_LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  throw stoppedBefore(step, stop.reason as StopReason);
}
