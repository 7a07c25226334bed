/** Running a step once, with what a host's disk already knows of it, and saying how it ended. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CancelledFailure } from '@temporalio/common';
import { childName, type RunStep, type StepDone } from '../../pipelines/run.js';
import { stepUmask, stepVariables, type Settings } from '../../platform/config.js';
import { isDiskFullError } from '../../platform/disk.js';
import { logKey } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage.js';
import { stepEnvironment, workingDirectory } from './environment.js';
import { notStarted, reasonOf, stepNotRun, workspaceMissing } from './failures.js';
import { hostId } from './host.js';
import {
  findAttempts,
  forgetStart,
  outputFile,
  prepareRun,
  recordStart,
  recordStop,
  type Attempt,
  type StopCause,
} from './journal.js';
import { findBash, launchStep, STOP_GRACE_MS, type LaunchedStep } from './launcher.js';
import type { ExitRecord } from './launcher-record.js';
import { childPaths, type ChildPaths } from './layout.js';
import { headingOf, StepLog } from './log.js';
import { masking, type Masking } from './mask.js';
import { earlierResult, isCanceled, stepOutcome } from './outcome.js';
import { onceThereIsRoom } from './room.js';
import { forgetRunning, noteRunning } from './running.js';
import { secretsOf } from './secrets.js';

/** Longest time that a timer takes, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** How long a step's output may go on without a byte after its end, in milliseconds: a stranger holds it open. */
const OUTPUT_LIMIT_MS = 2_000;

/**
 * How long one attempt waits for room on a full disk before it starts the step, in milliseconds: less than the least
 * start-to-close time-out of a step. The workflow then tries again.
 */
const ROOM_LIMIT_MS = 5 * 60_000;

/** What a step has around it. */
export interface StepContext {
  settings: Pick<Settings, 'home' | 'stepEnvironment'>;
  storage: Storage;
  workflowId: string;
  runId: string;
  namespace: string;
  /** The operation's token. */
  token: string;
  /** Temporal's attempt of the activity, from 1. */
  attempt: number;
  /** Of the activity, base64. */
  taskToken: string;
  /** Ends the step; its reason is a {@link StopCause}. */
  stop: AbortSignal;
  /** Gets the last line of the log, at most once a second. */
  onLine?: (line: string) => void;
  /** Gets what is to be done once Temporal has the outcome. Default: it is done as the step ends. */
  afterReport?: (() => Promise<void>)[];
  /** Of the worker. Default: this process's. */
  environment?: NodeJS.ProcessEnv;
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default: 10 s. */
  graceMs?: number;
  /** How long it waits for room on a full disk before it starts, in milliseconds. Default: 5 min. */
  roomLimitMs?: number;
  /** Largest log, in bytes. Default: 256 MiB. */
  logLimitBytes?: number;
}

/**
 * Runs a step, unless the journal says that it has run.
 *
 * Waits while a full disk keeps it from starting, or its log from being written.
 *
 * @throws ApplicationFailure `StepFailed` (retryable), `StepTimedOut`, `StepInDoubt`, or what its surroundings lack
 * @throws CancelledFailure when it was cancelled; its processes are gone by then
 */
export async function runStep(step: RunStep, around: StepContext): Promise<StepDone> {
  const { settings, workflowId, environment } = around;
  const secrets = secretsOf(step.secrets, hostId(settings.home), environment);
  const hidden = masking(Object.values(secrets));
  const paths = childPaths(settings.home, workflowId, step.child);
  const attempts = await findAttempts(paths, step.step);
  const earlier = await earlierResult(step, attempts, { ...around, masking: hidden });
  if (earlier) return earlier;
  if (around.stop.aborted) throw stoppedBefore(step, around.stop.reason as StopCause);
  try {
    // Fails for lack of room only as long as nothing was started.
    return await onceThereIsRoom(
      async () => run(step, around, await prepare(step, around, { paths, attempts, secrets, hidden })),
      { signal: around.stop, limitMs: around.roomLimitMs ?? ROOM_LIMIT_MS, onWait: around.onLine },
    );
  } catch (error) {
    if (!isDiskFullError(error)) throw error;
    if (around.stop.aborted) throw stoppedBefore(step, around.stop.reason as StopCause);
    throw stepNotRun(step, reasonOf(error));
  }
}

async function run(step: RunStep, around: StepContext, prepared: PreparedRun): Promise<StepDone> {
  const forget = () => forgetRunning(around.settings.home, prepared.stepId);
  try {
    return await follow(step, around, prepared);
  } finally {
    if (around.afterReport) around.afterReport.push(forget);
    else await forget();
  }
}

function stoppedBefore(step: RunStep, cause: StopCause): Error {
  return cause === 'canceled' ? cancelled(step) : stepNotRun(step);
}

function cancelled(step: RunStep): CancelledFailure {
  return new CancelledFailure(`step "${step.name}" was cancelled`);
}

/** A run that is on record, and about to be started. */
interface PreparedRun {
  folder: string;
  stepId: string;
  log: StepLog;
  masking: Masking;
  launch(): LaunchedStep;
}

interface Preparing {
  paths: ChildPaths;
  attempts: Attempt[];
  secrets: Record<string, string>;
  hidden: Masking;
}

/** @throws ApplicationFailure `StepNotStarted` or `WorkspaceMissing`, or an error for lack of room: nothing has been started then */
async function prepare(step: RunStep, around: StepContext, preparing: Preparing): Promise<PreparedRun> {
  const { settings, workflowId, runId, namespace, attempt, taskToken, token, storage } = around;
  const { paths, attempts, secrets, hidden } = preparing;
  await stat(paths.workspace).catch(() => {
    throw workspaceMissing(step, hostId(settings.home));
  });
  const stepId = randomUUID();
  const last = attempts.findLast(({ round }) => round === step.round)?.number ?? 0;
  const folder = join(paths.steps, String(step.step), `${step.round}.${Math.max(attempt, last + 1)}`);
  try {
    const base = stepVariables(settings, around.environment);
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
      key: logKey(workflowId, childName(step.child), step.step),
      masking: hidden,
      stop: around.stop,
      ...(around.onLine ? { onLine: around.onLine } : {}),
      ...(around.logLimitBytes ? { limitBytes: around.logLimitBytes } : {}),
    });
    const startedAt = new Date();
    await noteRunning(settings.home, { stepId, workflowId, runId, namespace, attempt, taskToken, step });
    const start = { stepId, workflowId, runId, attempt, startedAt: startedAt.toISOString() };
    await recordStart(folder, start);
    // Last, so that a repeated start doesn't repeat it.
    if (attempts.length) await log.heading(headingOf(attempts.length + 1, startedAt));
    const { graceMs = STOP_GRACE_MS } = around;
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
    await forgetStart(folder);
    await forgetRunning(settings.home, stepId);
    throw isDiskFullError(error) ? error : notStarted(step, reasonOf(error));
  }
}

/** Starts the step and stays with it until nothing of it is left. */
async function follow(step: RunStep, around: StepContext, run: PreparedRun): Promise<StepDone> {
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
  const onStop = () => end(around.stop.reason as StopCause);
  around.stop.addEventListener('abort', onStop);
  if (around.stop.aborted) onStop();
  const timer = step.timeoutMinutes
    ? setTimeout(() => end('timeout'), Math.min(step.timeoutMinutes * 60_000, LONGEST_TIMER_MS))
    : undefined;
  let exit: ExitRecord | undefined;
  try {
    exit = await waitForExit(launched, log);
  } catch (error) {
    await forgetStart(folder);
    await forgetRunning(around.settings.home, run.stepId);
    throw isDiskFullError(error) ? error : notStarted(step, reasonOf(error));
  } finally {
    clearTimeout(timer);
    around.stop.removeEventListener('abort', onStop);
    await log.end();
  }
  // A step that has removed its journal's folder can't be marked as stopped there.
  if (cause && exit && exit.exitCode !== 0) exit = { ...exit, stopped: true };
  if (isCanceled({ cause, exit })) throw cancelled(step);
  const lastLines = log.lastLines();
  return stepOutcome(step, { folder, exit, cause, lost, doubt: 'launcher', lastLines, masking: run.masking });
}

/** Hands the output to the log until the step has ended and all is read. */
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
