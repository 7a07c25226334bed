/**
 * Evaluates workflows, one at a time, on a thread that can be replaced. Code that loops, runs out of memory or rejects a promise in a
 * way that ends the thread costs its neighbours a replay, and the worker nothing.
 */
import { url as debuggerUrl } from 'node:inspector';
import type { WorkflowThread } from '../../../platform/temporal/internal/workflow-threads.js';
import { fatalLine, OPEN, type FatalEvaluation } from '../../../platform/storage/fatal-evaluations.js';
import { fatalPrefix } from '../../../platform/storage/keys.js';
import { otherThreadsMs } from './processor-time.js';
import { crashBytes, type CrashRecord, type CodeOfRun, type Quarantine } from './quarantine.js';

/** Interval of looks at a running evaluation, in milliseconds. */
const LOOK_MS = 250;
/** Looks between records of an evaluation in storage, in case it ends the worker and nobody restarts it. */
const RECORDED_LOOKS = 4;
/**
 * Processor time after which its thread is ended, in milliseconds. On an idle machine that leaves most of the workflow task's 10 s to report
 * it. On a busy one, code that only waits for a processor isn't blamed.
 */
const LIMIT_MS = 4_000;
/** Looks after which the thread is ended anyway: 60 s. The code blocks without using a processor. */
const MAX_LOOKS = 240;

const LOOPED =
  'ran for over 4 s without waiting for Temporal (a loop that never ends, or that awaits what is done already)';
const CRASHED = 'was running when its worker ended';

/** Message says what was wrong with the run's own code. */
export class FatalError extends Error {}

/** The run whose code is evaluated. */
export interface EvaluatedRun extends CodeOfRun {
  about: Pick<FatalEvaluation, 'workflow' | 'file'>;
}

export class Evaluator {
  #thread: Promise<WorkflowThread> | undefined;
  /** Settles with the last evaluation, and never rejects. */
  #last: Promise<unknown> = Promise.resolve();
  #endedThreads = 0;

  constructor(
    private readonly start: () => Promise<WorkflowThread>,
    private readonly record: CrashRecord,
    readonly quarantine: Quarantine,
  ) {}

  /** Starts the first thread. @throws when the bundle can't be loaded */
  async ready(): Promise<void> {
    await (this.#thread = this.start());
  }

  /** @throws FatalError when the run ended its thread */
  evaluate<T>(run: EvaluatedRun, work: (thread: WorkflowThread) => Promise<T>): Promise<T> {
    const evaluation = this.#last.then(() => this.#evaluate(run, work));
    this.#last = evaluation.catch(() => undefined);
    return evaluation;
  }

  async destroy(): Promise<void> {
    await this.#last;
    const thread = await this.#thread;
    if (thread?.endedBy === undefined) await thread?.destroy();
    this.record.close();
  }

  async #evaluate<T>(run: EvaluatedRun, work: (thread: WorkflowThread) => Promise<T>): Promise<T> {
    const thread = await this.#running();
    const watch = this.#watch(run, thread);
    this.record.set(this.#crashOf(run));
    try {
      return await work(thread);
    } catch (error) {
      if (thread.endedBy === undefined) throw error;
      throw await this.#blame(
        run,
        watch.isLooping ? LOOPED : ['ended its thread', thread.endedBy].filter(Boolean).join(': '),
      );
    } finally {
      this.record.set();
      await watch.end();
    }
  }

  /** The thread, or a new one if it has ended. */
  async #running(): Promise<WorkflowThread> {
    const thread = await this.#thread?.catch(() => undefined);
    if (thread && thread.endedBy === undefined) return thread;
    this.#endedThreads += 1;
    return (this.#thread = this.start());
  }

  #watch(run: EvaluatedRun, thread: WorkflowThread) {
    let looks = 0;
    let isLooping = false;
    let recording: Promise<void> | undefined;
    let isRecording = false;
    const record = async () => {
      isRecording = true;
      await this.quarantine.add(run, this.#openId, { ...run.about, reason: CRASHED });
      isRecording = false;
    };
    const startMs = otherThreadsMs();
    const timer = setInterval(() => {
      // A breakpoint isn't a loop.
      if (debuggerUrl() !== undefined) return;
      looks += 1;
      if (looks % RECORDED_LOOKS === 0 && !isRecording) recording = record();
      const isOver = looks * LOOK_MS >= LIMIT_MS && otherThreadsMs() - startMs >= LIMIT_MS;
      if (isLooping || (!isOver && looks < MAX_LOOKS)) return;
      isLooping = true;
      void thread.terminate();
    }, LOOK_MS);
    return {
      get isLooping() {
        return isLooping;
      },
      end: async () => {
        clearInterval(timer);
        await recording?.then(() => this.quarantine.remove(run, this.#openId));
      },
    };
  }

  async #blame(run: EvaluatedRun, reason: string): Promise<FatalError> {
    const fatal: FatalEvaluation = { ...run.about, reason };
    await this.quarantine.add(run, `${this.record.id}.${this.#endedThreads}`, fatal);
    return new FatalError(fatalLine(fatal));
  }

  /** The same in storage and in the record, so a crash counts once. */
  get #openId(): string {
    return this.record.id + OPEN;
  }

  #crashOf(run: EvaluatedRun): Buffer {
    const value: FatalEvaluation = { ...run.about, reason: CRASHED };
    return crashBytes({ key: fatalPrefix(run) + this.#openId, value });
  }
}
