/** Runs a step at most once, by the journal on the host's disk, and determines how it ended. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CancelledFailure, TemporalFailure } from '@temporalio/common';
import { childName, type RunStep, type StepDone } from '../../pipelines/run.js';
import { stepVariables, type Settings } from '../../platform/config.js';
import { stepUmask } from '../../platform/umask.js';
import { isDiskFullError } from '../../platform/disk.js';
import { logKey } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage.js';
import { stepEnvironment, workingDirectory } from './environment.js';
import { notStarted, describeSystemError, stepNotRun, workspaceMissing } from './failures.js';
import { hostId } from './host.js';
import {
  findAttempts,
  removeStart,
  outputFile,
  prepareRun,
  recordStart,
  recordStop,
  type StopCause,
} from './journal.js';
import { findBash, launchStep, STOP_GRACE_MS, type LaunchedStep } from './launcher.js';
import type { ExitRecord } from './launcher-record.js';
import { childPaths, type ChildPaths } from './layout.js';
import { headingOf, StepLog } from './log.js';
import { masking, type Masking } from './mask.js';
import { earlierResult, isCanceled, stepOutcome } from './outcome.js';
import { retryWhileDiskIsFull } from './disk-full.js';
import { awaitReplacedRuns } from './replaced-runs.js';
import { removeRunning, recordRunning } from './running.js';
import { secretsOf } from './secrets.js';

/** Longest delay of a Node.js timer, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Maximum wait for output after a step's end, in milliseconds: a process outside of its group may hold the pipe open. */
const OUTPUT_LIMIT_MS = 2_000;

/**
 * Maximum wait of one attempt on a full disk before it starts the step, in milliseconds: less than the shortest
 * start-to-close time-out of a step. The workflow then tries again.
 */
const ROOM_LIMIT_MS = 5 * 60_000;

/** Context of a step's run. */
export interface StepContext {
  settings: Pick<Settings, 'home' | 'stepEnvironment'>;
  storage: Storage;
  /** The operation's workflow ID: workspaces and logs are stored under it. */
  operationId: string;
  /** The activity's workflow, which is a child workflow of the operation for an item in a page. */
  workflowId: string;
  runId: string;
  namespace: string;
  /** The operation's token. */
  token: string;
  /** Temporal's attempt of the activity, from 1. */
  attempt: number;
  /** Task token of the activity, base64. */
  taskToken: string;
  /** Ends the step; its reason is a {@link StopCause}. */
  stop: AbortSignal;
  /** Gets the last line of the log, at most once a second. */
  onLine?: (line: string) => void;
  /** Receives callbacks for when Temporal has the outcome. Default: they run as the step ends. */
  afterReport?: (() => Promise<void>)[];
  /** Environment of the worker. Default: this process's. */
  environment?: NodeJS.ProcessEnv;
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default: 10 s. */
  graceMs?: number;
  /** Maximum wait on a full disk before the start, in milliseconds. Default: 5 min. */
  roomLimitMs?: number;
  /** Maximum size of the log, in bytes. Default: 256 MiB. */
  logLimitBytes?: number;
}

/**
 * Runs a step, unless the journal says that it has run.
 *
 * Waits while a full disk prevents its start, or the writing of its log.
 *
 * @throws ApplicationFailure `StepFailed` (retryable), `StepTimedOut`, `StepInDoubt`, or a failure of its environment
 * @throws CancelledFailure when it was cancelled; its processes have ended by then
 */
export async function runStep(step: RunStep, context: StepContext): Promise<StepDone> {
  const { settings, operationId, environment } = context;
  const secrets = secretsOf(step.secrets, hostId(settings.home), environment);
  const hidden = masking(Object.values(secrets));
  const paths = childPaths(settings.home, operationId, step.child);
  const attempts = await findAttempts(paths, step.step);
  const earlier = await earlierResult(step, attempts, { ...context, masking: hidden });
  if (earlier) return earlier;
  if (context.stop.aborted) throw stoppedBefore(step, context.stop.reason as StopCause);
  try {
    // An error about the full disk means that nothing was started.
    return await retryWhileDiskIsFull(
      async () => run(step, context, await prepare(step, context, { paths, secrets, hidden })),
      { signal: context.stop, limitMs: context.roomLimitMs ?? ROOM_LIMIT_MS, onWait: context.onLine },
    );
  } catch (error) {
    if (!isDiskFullError(error)) throw error;
    if (context.stop.aborted) throw stoppedBefore(step, context.stop.reason as StopCause);
    throw stepNotRun(step, describeSystemError(error));
  }
}

async function run(step: RunStep, context: StepContext, prepared: PreparedRun): Promise<StepDone> {
  const forget = () => removeRunning(context.settings.home, prepared.stepId);
  try {
    return await follow(step, context, prepared);
  } finally {
    if (context.afterReport) context.afterReport.push(forget);
    else await forget();
  }
}

function stoppedBefore(step: RunStep, cause: StopCause): Error {
  return cause === 'canceled' ? cancelled(step) : stepNotRun(step);
}

function cancelled(step: RunStep): CancelledFailure {
  return new CancelledFailure(`step "${step.name}" was cancelled`);
}

/** A run whose start is recorded. */
interface PreparedRun {
  folder: string;
  stepId: string;
  log: StepLog;
  masking: Masking;
  launch(): LaunchedStep;
}

interface Preparing {
  paths: ChildPaths;
  secrets: Record<string, string>;
  hidden: Masking;
}

/**
 * @throws ApplicationFailure `StepNotStarted`, `StepNotRun` or `WorkspaceMissing`, CancelledFailure, or an error about a full
 *   disk; nothing has been started then
 */
async function prepare(step: RunStep, context: StepContext, preparing: Preparing): Promise<PreparedRun> {
  const { settings, operationId, workflowId, runId, namespace, attempt, taskToken, token, storage } = context;
  const { paths, secrets, hidden } = preparing;
  await stat(paths.workspace).catch(() => {
    throw workspaceMissing(step, hostId(settings.home));
  });
  await assertOnlyRun(step, context);
  const stepId = randomUUID();
  const running = { stepId, operationId, workflowId, runId, namespace, attempt, taskToken, step };
  let recorded: string | undefined;
  try {
    await recordRunning(settings.home, running);
    // Again: a step of another run that starts at this moment sees this record, or this one sees that one's.
    await assertOnlyRun(step, context);
    const attempts = await findAttempts(paths, step.step);
    const last = attempts.findLast(({ round }) => round === step.round)?.number ?? 0;
    const folder = join(paths.steps, String(step.step), `${step.round}.${Math.max(attempt, last + 1)}`);
    const base = stepVariables(settings, context.environment);
    const bash = findBash(base['PATH']);
    if (!bash)
      throw new Error(`there is no bash on the worker's PATH (${base['PATH'] ?? 'not set'}): install it`);
    const directory = await workingDirectory(step, paths);
    const environment = await stepEnvironment(step, {
      paths,
      token,
      attempt: attempts.length + 1,
      outputFile: outputFile(folder),
      secrets,
      base,
    });
    await prepareRun(folder, step.run);
    const log = new StepLog({
      storage,
      key: logKey(operationId, childName(step.child), step.step),
      masking: hidden,
      stop: context.stop,
      ...(context.onLine ? { onLine: context.onLine } : {}),
      ...(context.logLimitBytes ? { limitBytes: context.logLimitBytes } : {}),
    });
    const startedAt = new Date();
    const start = { stepId, workflowId, runId, attempt, startedAt: startedAt.toISOString() };
    recorded = folder;
    await recordStart(folder, start);
    // Last, so that a repeated call doesn't repeat the heading.
    const isInNewRun = attempts.every((earlier) => earlier.start.runId !== runId);
    if (attempts.length) await log.heading(headingOf(attempts.length + 1, startedAt, isInNewRun));
    const { graceMs = STOP_GRACE_MS } = context;
    const launch = () =>
      launchStep({
        folder,
        stepId,
        workingDirectory: directory,
        environment,
        bash,
        tools: base['PATH'] ?? '',
        umask: stepUmask(),
        graceMs,
      });
    return { folder, stepId, log, masking: hidden, launch };
  } catch (error) {
    if (recorded) await removeStart(recorded);
    await removeRunning(settings.home, stepId);
    if (isDiskFullError(error) || error instanceof TemporalFailure) throw error;
    throw notStarted(step, describeSystemError(error));
  }
}

/**
 * Waits until the step's workspace has no step of another workflow run.
 *
 * @throws ApplicationFailure `StepNotRun` or CancelledFailure when the wait was ended
 */
async function assertOnlyRun(step: RunStep, context: StepContext): Promise<void> {
  const { settings, operationId, runId, stop, onLine } = context;
  const waiting = { home: settings.home, operationId, child: step.child, runId, stop, onWait: onLine };
  if (!(await awaitReplacedRuns(waiting))) throw stoppedBefore(step, stop.reason as StopCause);
}

/** Starts the step and waits until none of its processes is left. */
async function follow(step: RunStep, context: StepContext, run: PreparedRun): Promise<StepDone> {
  const { folder, log } = run;
  const launched = run.launch();
  let cause: StopCause | undefined;
  let lost: unknown;
  const end = (why: StopCause) => {
    if (cause) return;
    cause = why;
    void recordStop(folder, why).finally(() => launched.stop());
  };
  log.onLost = (error) => {
    if (!cause) lost = error;
    end('log');
  };
  const onStop = () => end(context.stop.reason as StopCause);
  context.stop.addEventListener('abort', onStop);
  if (context.stop.aborted) onStop();
  const timer = step.timeoutMinutes
    ? setTimeout(() => end('timeout'), Math.min(step.timeoutMinutes * 60_000, LONGEST_TIMER_MS))
    : undefined;
  let exit: ExitRecord | undefined;
  try {
    exit = await waitForExit(launched, log);
  } catch (error) {
    await removeStart(folder);
    await removeRunning(context.settings.home, run.stepId);
    throw isDiskFullError(error) ? error : notStarted(step, describeSystemError(error));
  } finally {
    clearTimeout(timer);
    context.stop.removeEventListener('abort', onStop);
    await log.end();
  }
  // A step that has removed its journal's folder can't be marked as stopped there.
  if (cause && exit && exit.exitCode !== 0) exit = { ...exit, stopped: true };
  if (isCanceled({ cause, exit })) throw cancelled(step);
  const lastLines = log.lastLines();
  return stepOutcome(step, { folder, exit, cause, lost, doubt: 'launcher', lastLines, masking: run.masking });
}

/** Copies the output to the log until the step has ended and all is read. */
async function waitForExit(launched: LaunchedStep, log: StepLog): Promise<ExitRecord | undefined> {
  let isBusy = false;
  let lastAt = performance.now();
  const drained = (async () => {
    for await (const chunk of launched.output) {
      isBusy = true;
      await log.write(chunk as Buffer);
      isBusy = false;
      lastAt = performance.now();
    }
  })().catch(() => undefined);
  const exit = await launched.ended;
  lastAt = performance.now();
  const silence = setInterval(() => {
    if (!isBusy && performance.now() - lastAt > OUTPUT_LIMIT_MS) launched.output.destroy();
  }, 100);
  await drained;
  clearInterval(silence);
  return exit;
}
