/**
 * Work that only one host can do, since it has the job's workspace. When the host doesn't answer for as long as the worker's
 * setting says, or an operator drops it, the job starts again elsewhere: by itself if that repeats idempotent steps alone,
 * else if a person says so.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  defineSignal,
  proxyActivities,
  setHandler,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type * as activities from '../../activities/pipeline/index.js';
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import { DROP_HOST_SIGNAL, type AwaitHost, type HostPresence } from '../../pipelines/run.js';
import { askAboutHost, asking } from './questions.js';

/** Type of the failure of what a lost host was to do. */
const HOST_LOST = 'HostLost';

/** Detail of the cancellation of an activity that no worker had taken (Temporal's server, cancel of an activity). */
const NOT_STARTED = 'ACTIVITY_ID_NOT_STARTED';

/** Longest time that a host's absence may be watched for, in days: longer than any setting. */
const WATCH_LIMIT_DAYS = 8;

/**
 * How long work waits for the host to take it before it is seen whether the host is there, in milliseconds: at first, and at
 * most. It doubles each time, since a host that is only busy is seen in vain, and each look adds to the history.
 */
const QUEUE_WAIT_MS = { first: 90_000, longest: 3_600_000 };
/** The same for what is done after a cancel: then nobody is asked, and nothing moves. */
const ENDING_WAIT_MS = 120_000;

/** Pauses between looks for a host that people are asked about, in milliseconds: doubled from the first to the longest. */
const LOOK_PAUSE_MS = { first: 60_000, longest: 3_600_000 };
/** How long one such look takes, in milliseconds: a worker that waits for work asks for it once a minute. */
const LOOK_MS = 75_000;

const dropHost = defineSignal<[string]>(DROP_HOST_SIGNAL);
/** Hosts that an operator has given up. */
const dropped = new Set<string>();
/** Hosts that did not take what was to be done after a cancel. */
const silent = new Set<string>();
/** What is being watched: one watch a host, for all jobs. */
const watches = new Map<string, Promise<LostHost | undefined>>();

/** A host that won't do what it is asked to. */
export interface LostHost {
  /** Why, for people: `has not been seen since ...`. */
  why: string;
  /** Has an operator given it up? Then there is no point in waiting for it. */
  isDropped: boolean;
}

const DROPPED: LostHost = { why: 'was dropped by an operator', isDropped: true };

/** The job that needs its host. */
export interface HostUser {
  readonly record: ChildRecord;
  /** Has the workspace. */
  readonly host: string;
  /**
   * Steps of the job that have run, or may have, and aren't idempotent.
   *
   * @param untaken a step that no worker has taken
   */
  unrepeatable(untaken: StepRecord | undefined): string[];
}

/** The job's host is given up: its steps run again, in a new workspace. */
export class StartJobAgain extends Error {
  override name = 'StartJobAgain';
}

/** Takes the signal that drops a host. */
export function listenToDrops(): void {
  setHandler(dropHost, (host) => void dropped.add(host), {
    description: 'Gives up a host, by its ID: its jobs go on elsewhere, or ask.',
  });
}

/**
 * Waits for a host that has not taken work.
 *
 * @returns undefined once it is back
 * @throws CancelledFailure
 */
function awaitHost(host: string): Promise<LostHost | undefined> {
  let watch = watches.get(host);
  if (!watch) {
    watch = watchHost(host).finally(() => watches.delete(host));
    watches.set(host, watch);
  }
  return watch;
}

async function watchHost(host: string): Promise<LostHost | undefined> {
  if (dropped.has(host)) return DROPPED;
  const outcome = await untilDropped(host, () => watched({ host, since: new Date().toISOString() }));
  if (!('done' in outcome)) return DROPPED;
  return outcome.done.isBack ? undefined : lost(outcome.done);
}

function watched(awaited: AwaitHost): Promise<HostPresence> {
  const { awaitPipelineHost } = proxyActivities<typeof activities>({
    startToCloseTimeout: `${WATCH_LIMIT_DAYS} days`,
    summary: `waiting for host ${awaited.host}`,
  });
  return awaitPipelineHost(awaited);
}

/** Looks now and then whether a host is back, until it is. */
async function returned(host: string): Promise<'wait'> {
  for (let pauseMs = LOOK_PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, LOOK_PAUSE_MS.longest)) {
    await sleep(pauseMs, { summary: `until the next look for host ${host}` });
    const { isBack } = await watched({ host, since: new Date().toISOString(), limitMs: LOOK_MS });
    if (isBack) return 'wait';
  }
}

function lost({ lastSeenAt }: HostPresence): LostHost {
  return { why: `has not been seen since ${lastSeenAt}`, isDropped: false };
}

export interface HostWork {
  /** What is done, for people: `step "compile"`. */
  what: string;
  /** The step's record, which shows a question beside the job's. */
  step?: StepRecord;
  /** May a worker have begun it already, in an earlier attempt? */
  mayHaveBegun: boolean;
  /** The job is being ended: nobody is asked, and nothing moves. */
  isLast: boolean;
}

/**
 * Has something done on the job's host.
 *
 * @param work gets how long it may wait to be taken, in milliseconds
 * @throws StartJobAgain; ActivityFailure or ApplicationFailure `HostLost` when a person gives up, or the work is the last;
 *   CancelledFailure; what the work throws
 */
export async function onHost<T>(
  job: HostUser,
  about: HostWork,
  work: (queueWaitMs: number) => Promise<T>,
): Promise<T> {
  if (about.isLast) return lastWork(job, work);
  let { mayHaveBegun } = about;
  for (let queueWaitMs = QUEUE_WAIT_MS.first; ;) {
    let failure: ActivityFailure | undefined;
    try {
      const outcome = await untilDropped(job.host, () => work(queueWaitMs));
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

/** Whether nothing took the work, or what took it has gone silent; undefined for any other failure. */
function hostTimeout(error: unknown): 'SCHEDULE_TO_START' | 'HEARTBEAT' | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof TimeoutFailure)) return undefined;
  const { timeoutType } = cause;
  return timeoutType === 'SCHEDULE_TO_START' || timeoutType === 'HEARTBEAT' ? timeoutType : undefined;
}

async function lastWork<T>({ host }: HostUser, work: (queueWaitMs: number) => Promise<T>): Promise<T> {
  if (dropped.has(host) || silent.has(host))
    throw ApplicationFailure.nonRetryable(`host ${host} does not answer`, HOST_LOST);
  try {
    return await work(ENDING_WAIT_MS);
  } catch (error) {
    if (hostTimeout(error)) silent.add(host);
    throw error;
  }
}

async function awaited({ record, host }: HostUser): Promise<LostHost | undefined> {
  const { statusMessage } = record;
  record.statusMessage = `host ${host} does not answer`;
  try {
    return await awaitHost(host);
  } finally {
    if (statusMessage === undefined) delete record.statusMessage;
    else record.statusMessage = statusMessage;
  }
}

async function decide(
  job: HostUser,
  { what, step, mayHaveBegun }: HostWork,
  { why, isDropped }: LostHost,
  failure: ActivityFailure | undefined,
): Promise<void> {
  const repeated = job.unrepeatable(mayHaveBegun ? undefined : step);
  if (repeated.length === 0) throw new StartJobAgain(`host ${job.host} ${why}`);
  const question = { job: job.record.name, host: job.host, what, why, repeated, isDropped };
  // A host that comes back makes the question pointless.
  const ask = () => firstOf(() => askAboutHost(question), ...(isDropped ? [] : [() => returned(job.host)]));
  const decision = await asking([job.record, ...(step ? [step] : [])], ask);
  if (decision === 'start_job_again') throw new StartJobAgain(`host ${job.host} was given up`);
  if (decision === 'give_up')
    throw failure ?? ApplicationFailure.nonRetryable(`host ${job.host} ${why}`, HOST_LOST);
}

/** What comes first; the others are cancelled. */
async function firstOf<T>(...works: (() => Promise<T>)[]): Promise<T> {
  const scope = new CancellationScope();
  const race = scope.run(() => Promise.race(works.map((work) => work())));
  return race.finally(() => scope.cancel());
}

/**
 * Has something done on a host, unless the host is dropped meanwhile.
 *
 * @param work is cancelled when the host is dropped
 * @returns what it gave; whether a worker may have begun it, when the host was dropped
 */
async function untilDropped<T>(
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

/** A host that has just opened a workspace is there, whatever was said of it before. */
export function hostAnswered(host: string): void {
  dropped.delete(host);
}
