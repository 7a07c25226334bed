/**
 * Work that only the host with the job's workspace can do. If the host is absent for longer than the worker's setting
 * `hostAbsenceMinutes`, or an operator drops it, the job starts again on another host. That needs a person's confirmation
 * unless it repeats only idempotent steps.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  proxyActivities,
  setHandler,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type * as activities from '../../activities/pipeline/index.js';
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import { DROP_HOST_SIGNAL, type AwaitHost, type HostPresence } from '../../pipelines/run.js';
import { operation } from '../runtime/state.js';
import { askAboutHost, withInputRequired } from './questions.js';

const HOST_LOST = 'HostLost';

/** Temporal's server sets this detail in the CancelledFailure of an activity that no worker had started. */
const NOT_STARTED = 'ACTIVITY_ID_NOT_STARTED';

/** Timeout of the activity that awaits a host, in days: longer than any setting for an absence. */
const WATCH_LIMIT_DAYS = 8;

/**
 * First and longest schedule-to-start timeout before the host's presence is checked, in milliseconds. It doubles: checks add events.
 */
const QUEUE_WAIT_MS = { first: 90_000, longest: 3_600_000 };
/** Longest schedule-to-start timeout after a cancel, in milliseconds: such work fails instead of asking or moving to another host. */
const ENDING_WAIT_MS = 120_000;

/** First and longest pause between presence checks while a question about the host is open, in milliseconds; it doubles. */
const LOOK_PAUSE_MS = { first: 60_000, longest: 3_600_000 };
/** Duration of such a check, in milliseconds: an idle worker polls once a minute. */
const LOOK_MS = 75_000;

const dropped = new Set<string>();
/** Hosts that did not take work after a cancel. */
const unresponsive = new Set<string>();
/** Presence checks after a cancel, by host: whether it is absent. All jobs share one. */
const endingLooks = new Map<string, Promise<boolean>>();
/** Open watches by host: all jobs share one. */
const watches = new Map<string, Promise<LostHost | undefined>>();

export interface LostHost {
  /** The reason, for people: `has not been seen since ...`. */
  why: string;
  /** Whether an operator dropped it, so waiting is no option. */
  isDropped: boolean;
}

const DROPPED: LostHost = { why: 'was dropped by an operator', isDropped: true };

export interface HostedJob {
  readonly record: ChildRecord;
  /** ID of the host with the workspace. */
  readonly host: string;
  /** Names of the steps that have run, or may have, and aren't idempotent. @param untaken a step that no worker has started */
  unrepeatable(untaken: StepRecord | undefined): string[];
}

/** Thrown when the job's host is given up: the job's steps run again, in a new workspace. */
export class StartJobAgain extends Error {
  override name = 'StartJobAgain';
}

/** Handles the signal that drops a host. @param onDrop gets the host too */
export function handleDropHost(onDrop?: (host: string) => void): void {
  setHandler(
    DROP_HOST_SIGNAL,
    (host) => {
      dropped.add(host);
      onDrop?.(host);
    },
    { description: 'Drops a host, by its ID: its jobs start again on another host, or ask first.' },
  );
}

/** The open watch or check of a host, or a new one: all jobs share it. */
function shared<T>(open: Map<string, Promise<T>>, host: string, begin: () => Promise<T>): Promise<T> {
  const running = open.get(host);
  if (running) return running;
  const begun = begin().finally(() => open.delete(host));
  open.set(host, begun);
  return begun;
}

/** Waits for a host that has not taken work. @returns undefined once it is back. @throws CancelledFailure */
async function watchHost(host: string): Promise<LostHost | undefined> {
  if (dropped.has(host)) return DROPPED;
  const outcome = await unlessDropped(host, () => watchPresence({ host, since: new Date().toISOString() }));
  if (!('done' in outcome)) return DROPPED;
  return outcome.done.isBack ? undefined : lost(outcome.done);
}

function watchPresence(awaitHostOfJob: AwaitHost): Promise<HostPresence> {
  const { awaitPipelineHost } = proxyActivities<typeof activities>({
    startToCloseTimeout: `${WATCH_LIMIT_DAYS} days`,
    summary: `waiting for host ${awaitHostOfJob.host}`,
  });
  return awaitPipelineHost(awaitHostOfJob);
}

/** Checks a host's presence, at growing intervals, until it is back. */
async function awaitReturn(host: string): Promise<'wait'> {
  for (let pauseMs = LOOK_PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, LOOK_PAUSE_MS.longest)) {
    await sleep(pauseMs, { summary: `until the next look for host ${host}` });
    const { isBack } = await watchPresence({ host, since: new Date().toISOString(), limitMs: LOOK_MS });
    if (isBack) return 'wait';
  }
}

function lost({ lastSeenAt }: HostPresence): LostHost {
  return { why: `has not been seen since ${lastSeenAt}`, isDropped: false };
}

export interface HostWork {
  /** The work, for people: `step "compile"`. */
  what: string;
  /** The step's record, which shows `input_required` with the job's. */
  step?: StepRecord;
  /** Whether a worker may have started it in an earlier attempt. */
  mayHaveBegun: boolean;
  /** Whether the job is ending: the work then fails instead of asking or moving to another host. */
  isLast: boolean;
}

/**
 * Runs work on the job's host.
 *
 * @param work gets its schedule-to-start timeout in milliseconds
 * @throws StartJobAgain; ActivityFailure or ApplicationFailure `HostLost` when a person gives up, or the work is the last;
 *   CancelledFailure; what the work throws
 */
export async function runOnHost<T>(
  job: HostedJob,
  about: HostWork,
  work: (queueWaitMs: number) => Promise<T>,
): Promise<T> {
  if (about.isLast) return lastWork(job, work);
  let { mayHaveBegun } = about;
  for (let queueWaitMs = QUEUE_WAIT_MS.first; ;) {
    let failure: ActivityFailure | undefined;
    try {
      const outcome = await unlessDropped(job.host, () => work(queueWaitMs));
      if ('done' in outcome) return outcome.done;
      if (outcome.mayHaveBegun) mayHaveBegun = true;
    } catch (error) {
      const timeout = hostTimeout(error);
      if (timeout === undefined) throw error;
      if (timeout === 'HEARTBEAT') mayHaveBegun = true;
      failure = error as ActivityFailure;
    }
    const lost = await awaited(job);
    if (lost) await decide(job, { ...about, mayHaveBegun }, lost, failure);
    queueWaitMs = Math.min(2 * queueWaitMs, QUEUE_WAIT_MS.longest);
  }
}

/** The timeout that may mean a lost host; undefined for any other failure. */
function hostTimeout(error: unknown): 'SCHEDULE_TO_START' | 'HEARTBEAT' | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof TimeoutFailure)) return undefined;
  const { timeoutType } = cause;
  return timeoutType === 'SCHEDULE_TO_START' || timeoutType === 'HEARTBEAT' ? timeoutType : undefined;
}

async function lastWork<T>({ host }: HostedJob, work: (queueWaitMs: number) => Promise<T>): Promise<T> {
  for (;;) {
    if (dropped.has(host) || unresponsive.has(host))
      throw ApplicationFailure.nonRetryable(`host ${host} does not answer`, HOST_LOST);
    try {
      return await work(endingWaitMs());
    } catch (error) {
      const timeout = hostTimeout(error);
      const isQueued = timeout === 'SCHEDULE_TO_START' && !unresponsive.has(host);
      if (isQueued && !(await isAbsent(host))) continue;
      if (timeout) unresponsive.add(host);
      throw error;
    }
  }
}

function endingWaitMs(): number {
  return Math.min(ENDING_WAIT_MS, operation().cleanupSeconds * 250);
}

/** Whether a host that took no work after a cancel is absent rather than busy. */
function isAbsent(host: string): Promise<boolean> {
  return shared(endingLooks, host, () => {
    // Answered at once: whether the host polled in that time.
    const since = new Date(Date.now() - LOOK_MS).toISOString();
    return watchPresence({ host, since, limitMs: LOOK_MS }).then(({ isBack }) => !isBack);
  });
}

async function awaited({ record, host }: HostedJob): Promise<LostHost | undefined> {
  const { statusMessage } = record;
  record.statusMessage = `host ${host} does not answer`;
  try {
    return await shared(watches, host, () => watchHost(host));
  } finally {
    if (statusMessage === undefined) delete record.statusMessage;
    else record.statusMessage = statusMessage;
  }
}

async function decide(
  job: HostedJob,
  { what, step, mayHaveBegun }: HostWork,
  { why, isDropped }: LostHost,
  failure: ActivityFailure | undefined,
): Promise<void> {
  const repeated = job.unrepeatable(mayHaveBegun ? undefined : step);
  if (repeated.length === 0) throw new StartJobAgain(`host ${job.host} ${why}`);
  const mayRun = step !== undefined && mayHaveBegun;
  const question = { job: job.record.name, host: job.host, what, why, repeated, mayRun, isDropped };
  // A returning host makes the question pointless.
  const ask = () =>
    firstOf(() => askAboutHost(question), ...(isDropped ? [] : [() => awaitReturn(job.host)]));
  const decision = await withInputRequired([job.record, ...(step ? [step] : [])], ask);
  if (decision === 'start_job_again') throw new StartJobAgain(`host ${job.host} was given up`);
  if (decision === 'give_up')
    throw failure ?? ApplicationFailure.nonRetryable(`host ${job.host} ${why}`, HOST_LOST);
}

/** Like Promise.race, but cancels the others. */
async function firstOf<T>(...works: (() => Promise<T>)[]): Promise<T> {
  const scope = new CancellationScope();
  const race = scope.run(() => Promise.race(works.map((work) => work())));
  return race.finally(() => scope.cancel());
}

/** Runs work until it is done or the host is dropped, which cancels it. `mayHaveBegun`: whether a worker may have started it. */
async function unlessDropped<T>(
  host: string,
  work: () => Promise<T>,
): Promise<{ done: T } | { mayHaveBegun: boolean }> {
  const scope = new CancellationScope();
  const done = scope.run(work);
  const watching = new CancellationScope();
  void watching
    .run(() => condition(() => dropped.has(host)))
    .then(
      () => scope.cancel(),
      () => undefined,
    );
  try {
    return { done: await done };
  } catch (error) {
    const isOwn = scope.consideredCancelled && !CancellationScope.current().consideredCancelled;
    if (!isOwn || !(error instanceof ActivityFailure) || !(error.cause instanceof CancelledFailure))
      throw error;
    return { mayHaveBegun: !error.cause.details?.includes(NOT_STARTED) };
  } finally {
    watching.cancel();
  }
}

/** Clears an earlier drop of a host that has just opened a workspace. */
export function clearHostDrop(host: string): void {
  dropped.delete(host);
}
