/** Follows one run of a step, started by this process or an earlier one: copies its output to its log until it has ended. */
import { existsSync } from 'node:fs';
import { DISK_FREE, DISK_FULL } from '../../activities/runtime/await-storage.js';
import type { UnknownOutcomeReason } from './failures.js';
import { hasNotStarted } from './journal.js';
import type { StartedLauncher } from './launcher/index.js';
import {
  LAUNCHER_LIMIT_MS,
  readExit,
  readLauncher,
  recordStop,
  type ExitRecord,
  type StopCause,
} from './launcher/record.js';
import {
  isLauncherAlive,
  isOfEarlierBoot,
  killLeftovers,
  processesOfStep,
  signalLauncher,
  type RunProcesses,
} from './leftovers.js';
import type { StepLog } from './output/log.js';
import { SpoolReader, writeCursor, type Cursor } from './output/spool.js';

/** Bytes appended to the log at once. If more waits, it follows without a pause. */
const BATCH_BYTES = 1024 * 1024;

/** Pause between two reads of the output, in milliseconds, while the step runs and once it has ended. */
const READ_PAUSE_MS = 100;
const LAST_READ_PAUSE_MS = 5;

/** Maximum wait for output after a step's end, in milliseconds: a process outside of its group may hold the pipe open. */
const OUTPUT_LIMIT_MS = 5_000;

/** Time after which a launcher without a record counts as missing, in milliseconds. */
const START_LIMIT_MS = 1_000;

/** Longest delay of a Node.js timer, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface FollowOptions {
  folder: string;
  stepId: string;
  /** Path of the step's own cgroup; undefined if it has none. */
  cgroup: string | undefined;
  log: StepLog;
  /** The output before it is in the log. */
  cursor: Cursor;
  /** Time between SIGTERM and SIGKILL, in milliseconds. */
  graceMs: number;
  timeoutMs: number | undefined;
  /** Set if this process started it. */
  launcher?: StartedLauncher;
  /** Whether this process may still write the step's log. */
  isOwn: () => Promise<boolean>;
  /** This follower fires it to end the log's waits. */
  logStop: AbortController;
}

export interface RunEnd {
  /** Undefined when its outcome is unknown. */
  exit: ExitRecord | undefined;
  /** Why the outcome is unknown, if nobody asked for its end. */
  doubt: UnknownOutcomeReason;
  /** Whether it never started because its worker was killed first. */
  hasNotStarted?: boolean;
  /** Error of the log, if it couldn't be written. */
  lost?: unknown;
  /** The last lines of its output; undefined if an earlier process has read a part of it. */
  lastLines: string[] | undefined;
}

/** Who reports a step's end: an attempt of its activity, which has a slot, or the worker, by task token. */
export type Attendant = 'activity' | 'worker';

export interface Attendance {
  /** Fires when another attendant takes over. */
  superseded: AbortSignal;
  /** Leaves the step's end to another attendant. */
  end: () => void;
}

export class StepFollower {
  /** Resolves once the step's processes are gone and the log is complete; with undefined when this process has stopped following. */
  readonly ended: Promise<RunEnd | undefined>;
  #hasEnded = false;
  #isLeaving = false;
  /** When the log takes the next append, by `performance.now()`. */
  #nextAppendMs = 0;
  #lost: unknown;
  /** How it ended, once its launcher has ended. */
  #over: { exit: ExitRecord | undefined } | undefined;
  #session: number | undefined;
  #isWaiting = false;
  /** End of the log, until the cursor is there. */
  #unsaved: Cursor | undefined;
  /** Number of checks for a launcher that has left no record. */
  #looks = 0;
  #attendance: { by: Attendant; onLine: (line: string) => void; superseded: AbortController } | undefined;
  #asked: StopCause | undefined;
  #wake: () => void = () => undefined;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(private readonly options: FollowOptions) {
    options.log.onLine = (line) => this.#attendance?.onLine(line);
    options.log.onLost = (error) => {
      if (this.#isLeaving) return;
      this.#lost = error;
      void this.stop('log');
    };
    this.ended = this.#follow().finally(() => {
      this.#hasEnded = true;
      this.#timers.forEach((timer) => clearTimeout(timer));
      options.log.close();
    });
    this.ended.catch(() => undefined);
  }

  get isRunning(): boolean {
    return !this.#hasEnded;
  }

  get attendant(): Attendant | undefined {
    return this.#attendance?.by;
  }

  /** Makes the caller report the step's end. @param onLine gets the last line of the log, at most once a second */
  attend(by: Attendant, onLine: (line: string) => void = () => undefined): Attendance {
    this.#attendance?.superseded.abort();
    const own = { by, onLine, superseded: new AbortController() };
    this.#attendance = own;
    return {
      superseded: own.superseded.signal,
      end: () => {
        if (this.#attendance === own) this.#attendance = undefined;
      },
    };
  }

  /** Ends the step: SIGTERM to its process group, SIGKILL after the grace period. Only the first cause counts. */
  async stop(cause: StopCause): Promise<void> {
    const { folder, graceMs, logStop } = this.options;
    if (this.#asked) return;
    this.#asked = cause;
    await recordStop(folder, cause);
    signalLauncher(await this.#processes());
    logStop.abort();
    // The launcher ends the step; if it hangs, the step must not live on.
    this.#after(graceMs + LAUNCHER_LIMIT_MS, async () => killLeftovers(await this.#processes()));
  }

  /** Stops following. The step runs on, and another process can follow it from here. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.options.launcher?.unref();
    this.options.logStop.abort();
    this.#wake();
    await this.ended.catch(() => undefined);
  }

  async #follow(): Promise<RunEnd | undefined> {
    const { folder, log, cursor, launcher, timeoutMs } = this.options;
    if (timeoutMs !== undefined) this.#after(timeoutMs + LAUNCHER_LIMIT_MS, () => this.stop('timeout'));
    if (cursor.isDone) return { exit: await readExit(folder), doubt: 'worker', lastLines: undefined };
    const spool = new SpoolReader(folder, cursor);
    try {
      void launcher?.ended.then((exit) => {
        this.#over = { exit };
        this.#wake();
      });
      while (!this.#over) {
        if (!launcher) await this.#lookForEnd();
        if (this.#pauseLeftMs > 0 && !this.#over) {
          await this.#pause(Math.min(this.#pauseLeftMs, READ_PAUSE_MS));
          if (this.#isLeaving) return undefined;
          continue;
        }
        const isQuiet = !(await this.#copy(spool));
        if (this.#isLeaving) return undefined;
        if (isQuiet) await this.#reportWait(spool);
        if (isQuiet && !this.#over) await this.#pause(READ_PAUSE_MS);
      }
      const exit = this.#stoppedWithoutJournal(this.#over.exit);
      const processes = await this.#processes();
      const session = launcher ? processes.pids?.launcher : this.#session;
      await killLeftovers(processes, { session });
      if (!(await this.#copyRest(spool))) await killLeftovers(processes, { session, isRelayToo: true });
      if (this.#isLeaving) return undefined;
      await log.end();
      if (this.#isLeaving) return undefined;
      // On a full disk, or while storage is down after a cancel, the cursor stays where it is.
      await log
        .size()
        .then((logBytes) => writeCursor(folder, { file: 0, offset: 0, covered: 0, logBytes, isDone: true }))
        .catch(() => undefined);
      await spool.remove();
      return {
        exit,
        doubt: isOfEarlierBoot(processes) ? 'host' : processes.pids ? 'launcher' : 'worker',
        ...(!exit && !processes.pids && (await hasNotStarted(folder)) ? { hasNotStarted: true } : {}),
        lost: this.#lost,
        lastLines: launcher ? log.lastLines() : undefined,
      };
    } finally {
      await spool.close();
    }
  }

  /** If the step removed its journal, its launcher can't record why it ended the step. */
  #stoppedWithoutJournal(exit: ExitRecord | undefined): ExitRecord | undefined {
    if (!exit || exit.stopped || exit.exitCode === 0 || existsSync(this.options.folder)) return exit;
    return { ...exit, stopped: this.#asked };
  }

  /** Checks whether another process's launcher has ended. */
  async #lookForEnd(): Promise<void> {
    const processes = await this.#processes();
    if (isLauncherAlive(processes)) {
      this.#session = processes.pids!.launcher;
      return;
    }
    const isStarting = !processes.pids && processesOfStep(processes).length > 0;
    if (isStarting) return;
    // A process can't be seen for a moment while it is created.
    if (!processes.pids && (this.#looks += 1) * READ_PAUSE_MS < START_LIMIT_MS) return;
    this.#over = { exit: await readExit(this.options.folder) };
  }

  get #pauseLeftMs(): number {
    return this.#nextAppendMs - performance.now();
  }

  /** The next output, up to one append's size. */
  async #read(spool: SpoolReader): Promise<Buffer> {
    const pieces = [await spool.read()];
    let bytes = pieces[0]!.length;
    while (pieces.at(-1)!.length > 0 && bytes < BATCH_BYTES) {
      pieces.push(await spool.read());
      bytes += pieces.at(-1)!.length;
    }
    return Buffer.concat(pieces);
  }

  /** Copies the available output to the log. @returns whether there was any */
  async #copy(spool: SpoolReader): Promise<boolean> {
    const { log, isOwn } = this.options;
    const output = await this.#read(spool);
    if (output.length === 0) {
      await this.#saveCursor(spool);
      return false;
    }
    if (!(await isOwn())) this.#isLeaving = true;
    if (this.#isLeaving) return true;
    await log.write(output);
    this.#nextAppendMs = output.length < BATCH_BYTES ? performance.now() + log.appendPauseMs : 0;
    if (this.#isLeaving) return true;
    const { count, covered } = log.held;
    this.#unsaved = { ...spool.positionBefore(count), covered, logBytes: await log.size() };
    await this.#saveCursor(spool);
    return true;
  }

  /** Moves the cursor to the log's end, and removes the files before it. On a full disk it stays, which the next follower copes with. */
  async #saveCursor(spool: SpoolReader): Promise<void> {
    const cursor = this.#unsaved;
    if (!cursor) return;
    try {
      await writeCursor(this.options.folder, cursor);
    } catch {
      return;
    }
    this.#unsaved = undefined;
    await spool.removeBefore(cursor);
  }

  /** Reports when the step starts and stops waiting for space. */
  async #reportWait(spool: SpoolReader): Promise<void> {
    const isWaiting = await spool.isWaiting();
    if (isWaiting === this.#isWaiting) return;
    this.#isWaiting = isWaiting;
    this.#attendance?.onLine(isWaiting ? DISK_FULL : DISK_FREE);
  }

  /** Copies an ended step's output. @returns false if a process still holds its pipe */
  async #copyRest(spool: SpoolReader): Promise<boolean> {
    let lastAt = performance.now();
    for (;;) {
      const isEnded = await spool.isEnded();
      if (await this.#copy(spool)) lastAt = performance.now();
      else if (isEnded) return true;
      else if (performance.now() - lastAt > OUTPUT_LIMIT_MS) {
        // The relay may wait for room.
        if (this.options.logStop.signal.aborted || !(await spool.isWaiting())) return false;
      }
      if (this.#isLeaving) return true;
      await this.#pause(LAST_READ_PAUSE_MS);
    }
  }

  async #processes(): Promise<RunProcesses> {
    const { folder, stepId, cgroup } = this.options;
    return { folder, stepId, cgroup, pids: await readLauncher(folder) };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #after(ms: number, work: () => Promise<void>): void {
    this.#timers.push(setTimeout(() => void work(), Math.min(ms, LONGEST_TIMER_MS)).unref());
  }
}
