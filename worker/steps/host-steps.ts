/** The steps of this host that this process follows. */
import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { childName, type RunStep } from '../../pipelines/run.js';
import type { Settings } from '../../platform/settings/index.js';
import { loadSecret } from '../../platform/home/secret.js';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { stepLogPrefix } from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';
import type { AttemptRecord } from '../../activities/runtime/attempt-span.js';
import type { Containment } from './containment.js';
import { hostId } from './host.js';
import type { Attempt } from './journal.js';
import type { StartedLauncher } from './launcher/index.js';
import { readLauncher, STOP_GRACE_MS } from './launcher/record.js';
import { isLauncherAlive, startVariables } from './leftovers.js';
import { StepLog } from './output/log.js';
import { EVERYTHING_MASKED, masking, type Masking } from './output/mask.js';
import { endOfRun, type StepEnd, endStep, type EndedStep } from './outcome.js';
import {
  claimRunning,
  isOwnRunning,
  recordNotStarted,
  recordRunning,
  releaseRunning,
  removeRunning,
  runningSteps,
  type FoundStep,
  type RunningStep,
} from './running.js';
import { secretsDigest, secretsOf } from './output/secrets.js';
import { firstFile, readCursor, type Cursor } from './output/spool.js';
import { StepFollower, type RunEnd } from './follower.js';

/** Time for another process to notice that it no longer follows a step, in milliseconds: several of its reads. */
const HANDOVER_MS = 1_000;

/** First line of the rest of a log when its output can't be masked. */
const HIDDEN = "--- the step's secrets have changed since it started: its further output is not shown";

export interface HostStepsOptions {
  settings: Pick<Settings, 'home'>;
  storage: Storage;
  /** The worker's environment. Default: this process's. */
  environment?: NodeJS.ProcessEnv;
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default: 10 s. */
  graceMs?: number;
  /** Maximum size of a step's log, in bytes. Default: 256 MiB. */
  logLimitBytes?: number;
  /** Containment of the steps' processes. Default: the one that this host offers. */
  containment?: Containment;
}

export interface FollowedStep {
  stepId: string;
  follower: StepFollower;
  /** Facts that determine the step's outcome, once it has ended. */
  end: (ended: RunEnd) => Promise<StepEnd>;
  /** Its span; undefined if none is recorded. */
  span?: Omit<EndedStep, 'end'> & { end?: StepEnd };
}

/** A run of a step, and where its log continues. */
interface StepRun {
  folder: string;
  /** Path of its own cgroup; undefined if it has none. */
  cgroup?: string;
  masking: Masking;
  cursor: Cursor;
  /** Set if this process started it. */
  launcher?: StartedLauncher;
  /** ISO 8601. */
  startedAt: string;
  /** Span of the attempt that started it; undefined if none is recorded. */
  span?: AttemptRecord;
}

export class HostSteps {
  /** Called when a step gets or loses an attendant, or ends. */
  onChange: () => void = () => undefined;
  /** By step ID, until Temporal knows the step's end. */
  readonly #followed = new Map<string, FollowedStep>();
  readonly #starting = new Set<string>();
  /** Serializes this process's claims. */
  readonly #claims = new PQueue({ concurrency: 1 });

  constructor(readonly options: HostStepsOptions) {}

  get graceMs(): number {
    return this.options.graceMs ?? STOP_GRACE_MS;
  }

  /** Number of running steps that the worker reports by task token. They occupy no activity slot. */
  get adoptedCount(): number {
    return [...this.#followed.values()].filter(
      ({ follower }) => follower.isRunning && follower.attendant === 'worker',
    ).length;
  }

  /** Records a step, launches it and follows it. @throws errors of `launch`; the record is gone then */
  async start(running: RunningStep, launch: () => Promise<StepRun>): Promise<FollowedStep> {
    const { home } = this.options.settings;
    const { stepId } = running;
    this.#starting.add(stepId);
    try {
      await recordRunning(home, { ...running, isStarting: true });
      return this.#follow(running, await launch());
    } catch (error) {
      await removeRunning(home, stepId);
      throw error;
    } finally {
      this.#starting.delete(stepId);
    }
  }

  /** Whether this process is starting a step, or reports its end. */
  isAttended(stepId: string): boolean {
    return this.#starting.has(stepId) || this.#followed.get(stepId)?.follower.attendant !== undefined;
  }

  /** Removes a step's record once Temporal knows its end. */
  async forget(stepId: string): Promise<void> {
    const { span } = this.#followed.get(stepId) ?? {};
    if (span?.end) endStep({ ...span, end: span.end });
    this.#followed.delete(stepId);
    await removeRunning(this.options.settings.home, stepId);
  }

  /** The process that reports the step's outcome then ends the attempt's span. */
  leaveSpan(stepId: string): void {
    const { span } = this.#followed.get(stepId) ?? {};
    if (span) span.isAttended = false;
  }

  /** Makes this process follow a step. @returns false while another process does */
  async claim(found: FoundStep): Promise<boolean> {
    if (found.follower === 'none') return claimRunning(this.options.settings.home, found);
    return found.follower === 'own';
  }

  /** Follows a run that an earlier process left. @returns undefined while another process follows it */
  adopt(found: FoundStep, run: Attempt): Promise<FollowedStep | undefined> {
    return this.#claims.add(async () => {
      const known = this.#followed.get(found.stepId);
      if (known && found.follower === 'own') return known;
      // Another process has taken it over or asked for it.
      await known?.follower.leave();
      return (await this.claim(found)) ? this.#continue(found, run) : undefined;
    });
  }

  /** Follows a run for another attempt, even if another worker follows it: Temporal waits only for this attempt. */
  async takeOver(running: RunningStep, run: Attempt): Promise<FollowedStep> {
    const { home } = this.options.settings;
    for (;;) {
      const found = (await runningSteps(home)).find(({ stepId }) => stepId === running.stepId);
      // The run has ended and Temporal knows: nothing is left to do, and its span was exported.
      if (!found && (await readCursor(run.folder))?.isDone) return this.#continue(running, withoutSpan(run));
      if (!found) await recordRunning(home, running);
      if (found?.follower === 'other') {
        await releaseRunning(home, found);
        await delay(HANDOVER_MS);
      } else {
        const followed = await this.adopt(found ?? { ...running, follower: 'own', file: '' }, run);
        if (followed) {
          await recordRunning(home, running);
          return followed;
        }
      }
    }
  }

  /** Stops following; the steps run on for the next worker. */
  async leave(): Promise<void> {
    const stepIds = [...this.#followed.keys()];
    await Promise.all([...this.#followed.values()].map(({ follower }) => follower.leave()));
    for (const stepId of stepIds) await releaseRunning(this.options.settings.home, { stepId });
  }

  /** The masking of a run's output, with the secrets that it started with. */
  async maskingOf({ folder, start }: Attempt, names: readonly string[]): Promise<Masking> {
    if (names.length === 0) return masking([]);
    const { settings, environment } = this.options;
    const key = loadSecret(settings.home);
    const isSame = (secrets: Record<string, string>) =>
      secretsDigest(key, start.stepId, secrets) === start.secretsDigest;
    const pids = await readLauncher(folder);
    const isAlive = isLauncherAlive({ folder, pids });
    for (const secrets of [
      currentSecrets(names, hostId(settings.home), environment),
      isAlive ? startVariables(pids!.launcher, names) : {},
    ])
      if (isSame(secrets)) return masking(Object.values(secrets));
    return EVERYTHING_MASKED;
  }

  #follow(
    running: RunningStep,
    { folder, cgroup, masking, cursor, launcher, startedAt, span }: StepRun,
  ): FollowedStep {
    const { settings, storage, logLimitBytes } = this.options;
    const { step, stepId, token } = running;
    const prefix = logPrefixOf(running);
    const logStop = new AbortController();
    const log = new StepLog({
      ...{ storage, prefix, masking, stop: logStop.signal, from: cursor },
      limitBytes: logLimitBytes,
    });
    const follower = new StepFollower({
      ...{ folder, stepId, cgroup, log, logStop, cursor },
      graceMs: this.graceMs,
      timeoutMs: timeoutOf(step),
      isOwn: () => isOwnRunning(settings.home, stepId),
      ...(launcher ? { launcher } : {}),
    });
    const end = async (ended: RunEnd) => {
      if (ended.hasNotStarted) await recordNotStarted(settings.home, stepId);
      const facts = await endOfRun(ended, { folder, log: new ChunkedLog(storage, prefix), masking });
      if (followed.span && !facts.hasNotStarted) followed.span.end = facts;
      return facts;
    };
    const isAttended = launcher !== undefined;
    const followed: FollowedStep = {
      ...{ stepId, follower, end },
      ...(span ? { span: { stepId, token, step, startedAt, attempt: span, isAttended } } : {}),
    };
    this.#followed.set(stepId, followed);
    void follower.ended
      .catch(() => undefined)
      .then((ended) => {
        if (!ended && this.#followed.get(stepId) === followed) this.#followed.delete(stepId);
        this.onChange();
      });
    this.onChange();
    return followed;
  }

  async #continue(running: RunningStep, run: Attempt): Promise<FollowedStep> {
    const { storage } = this.options;
    const { folder } = run;
    const masking = await this.maskingOf(run, running.step.secrets);
    const prefix = logPrefixOf(running);
    let cursor = await readCursor(folder);
    // Without a cursor, some output may be logged twice.
    cursor ??= {
      file: await firstFile(folder),
      offset: 0,
      covered: 0,
      logBytes: (await new ChunkedLog(storage, prefix).size()) ?? 0,
    };
    if (masking === EVERYTHING_MASKED && !cursor.isDone) {
      const log = new StepLog({ storage, prefix, masking });
      await log.heading(HIDDEN);
      cursor = { ...cursor, covered: 0, logBytes: await log.size() };
    }
    const { cgroup, startedAt, span } = run.start;
    return this.#follow(running, { folder, cgroup, masking, cursor, startedAt, span });
  }
}

function withoutSpan({ start: { span: _span, ...start }, ...run }: Attempt): Attempt {
  return { ...run, start };
}

function logPrefixOf({ operationId, step }: RunningStep): string {
  return stepLogPrefix(operationId, childName(step.child), step.step);
}

export function timeoutOf({ timeoutMinutes }: RunStep): number | undefined {
  return timeoutMinutes === undefined ? undefined : timeoutMinutes * 60_000;
}

function currentSecrets(
  names: readonly string[],
  host: string,
  environment: NodeJS.ProcessEnv | undefined,
): Record<string, string> {
  try {
    return secretsOf(names, host, environment);
  } catch {
    return {};
  }
}
