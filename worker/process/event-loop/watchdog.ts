/**
 * Names the activity that blocks the worker's event loop. A blocked worker sends no heartbeats, so Temporal would start the next
 * attempt, which blocks as well, until the deadline.
 */
import { url as debuggerUrl } from 'node:inspector';
import { Worker as Thread } from 'node:worker_threads';
import { basename, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import { activityContext, type ActivityContext } from '../../../activities/runtime/context.js';
import { undefinedIf } from '../../../operations/errors.js';
import { builtProgram } from '../../../platform/home/program.js';
import type { Logger } from '../../../platform/observe/log.js';
import type { Settings } from '../../../platform/settings/index.js';
import { storageChoice, type Storage } from '../../../platform/storage/index.js';
import { blockedActivityKey } from '../../../platform/storage/keys.js';
import { withTimeout } from '../../../platform/with-timeout.js';
import {
  BEAT_MS,
  SAMPLE,
  type Block,
  type Sample,
  type SampledAttempt,
  type ThreadData,
  type ThreadMessage,
  type Verdict,
} from './sample.js';

/** Failure type of an activity that blocked a worker's event loop. */
const EVENT_LOOP_BLOCKED = 'event_loop_blocked';
const ADVICE = 'move the work to a worker thread or child process, or await between chunks';

/** How long an attempt waits for its verdict while storage doesn't answer, in milliseconds. */
const VERDICT_LIMIT_MS = 5_000;
/** Number of activities with logs, and with a warning, that are remembered. */
const REMEMBERED_ACTIVITIES = 1_000;

const STACK_FRAMES = 40;
/** A failure shows so many frames. */
const SHOWN_FRAMES = 8;
/** Frames of the sampling itself: the function that captures it, the watchdog's two, and the inspector's expression. */
const OWN_FRAMES = 4;
const INTERNAL = /\(node:internal\/|at node:internal\/|[\\/]node_modules[\\/]@temporalio[\\/]/;
/** The worker's program, which has this file. */
const OWN_FILE = fileURLToPath(import.meta.url);
const PATH = /(?:file:\/\/)?(\/[^():]+)(?=:\d+:\d+)/;

interface RunningAttempt {
  context: Context;
  operationId: string;
  beatAtMs: number;
}

/** An attempt that is being watched. */
export interface Watch {
  /** Fails the attempt if the one before blocked a worker for so long that it timed out. */
  assertNotBlocking(): Promise<void>;
  /** Call it once Temporal has accepted the outcome: the attempt hasn't timed out, whatever the thread thought. */
  acquit(): Promise<void>;
  end(): void;
}

export class EventLoopWatchdog {
  readonly #beats = new Int32Array(new SharedArrayBuffer(4));
  readonly #running = new Map<ActivityContext, RunningAttempt>();
  readonly #warned = new LRUCache<string, true>({ max: REMEMBERED_ACTIVITIES });
  /** Logs of sampled attempts: an attempt may end before its block is known to have ended. */
  readonly #logs = new LRUCache<string, Context['log']>({ max: REMEMBERED_ACTIVITIES });
  /** Keys of the verdicts that the thread has written. */
  readonly #judged = new Set<string>();
  #end: (() => void) | undefined;

  /** @param fileOf file that exports an activity */
  constructor(
    private readonly settings: Settings,
    private readonly storage: Storage,
    private readonly logger: Logger,
    private readonly fileOf: (activityType: string) => string | undefined,
  ) {}

  /** Watches an attempt. The first one starts the thread, which a start of the worker then doesn't wait for. */
  watch(around: ActivityContext, context: Context): Watch {
    this.#end ??= this.#start();
    const attempt = { context, operationId: around.operationId, beatAtMs: performance.now() };
    this.#running.set(around, attempt);
    const { heartbeat } = context;
    const timed = (details?: unknown) => {
      attempt.beatAtMs = performance.now();
      heartbeat(details);
    };
    Object.assign(context, { heartbeat: timed });
    return {
      assertNotBlocking: () => this.#assertNotBlocking(attempt),
      acquit: () => this.#acquit(attempt),
      end: () => this.#running.delete(around),
    };
  }

  end(): void {
    this.#end?.();
  }

  #start(): () => void {
    (globalThis as Record<symbol, unknown>)[Symbol.for(SAMPLE)] = () => JSON.stringify(this.#sample());
    const timer = setInterval(() => Atomics.add(this.#beats, 0, 1), BEAT_MS).unref();
    const thread = new Thread(builtProgram('watch-event-loop'), {
      workerData: { beats: this.#beats, storageChoice: storageChoice(this.settings) } satisfies ThreadData,
      execArgv: [],
    });
    thread.unref();
    thread.on('message', (message: ThreadMessage) => this.#take(message));
    thread.on('error', (error) => this.logger.warn({ err: error }, "the event loop's watchdog has ended"));
    return () => {
      clearInterval(timer);
      void thread.terminate();
    };
  }

  /** Null under a debugger: a breakpoint isn't a block. */
  #sample(): Sample | null {
    if (debuggerUrl() !== undefined) return null;
    const stack = currentStack();
    const attempt = this.#attemptIn(stack);
    const shown = shownFrames(stack, this.settings.project);
    return { beats: Atomics.load(this.#beats, 0), stack: shown, ...(attempt ? { attempt } : {}) };
  }

  /** The attempt whose code runs now, by its async context. */
  #attemptIn(stack: string): SampledAttempt | undefined {
    const around = activityContext.getStore();
    const running = around && this.#running.get(around);
    if (!running || this.#isOfOther(stack, running)) return undefined;
    const info = infoOf(running);
    this.#logs.set(keyOf(info), running.context.log);
    return { ...info, beatAgeMs: performance.now() - running.beatAtMs };
  }

  /** Queues and pools call one activity's function in the context of another. The function's file decides. */
  #isOfOther(stack: string, { context }: RunningAttempt): boolean {
    const isIn = (file: string | undefined) => file !== undefined && stack.includes(file);
    if (isIn(this.fileOf(context.info.activityType))) return false;
    return [...this.#running.values()].some((other) => isIn(this.fileOf(other.context.info.activityType)));
  }

  #take(message: ThreadMessage): void {
    if ('ended' in message) this.#warn(message.ended);
    else if ('judged' in message) this.#judged.add(keyOf(message.judged));
    else this.logger.warn(`a blocked event loop can't be recorded: ${message.failure}`);
  }

  #warn({ blockedMs, stack, attempt }: Block): void {
    const seconds = blockedMs / 1_000;
    if (!attempt) {
      this.logger.warn({ seconds, stack }, 'the event loop was blocked');
      return;
    }
    const key = keyOf(attempt);
    if (this.#warned.has(key)) return;
    this.#warned.set(key, true);
    const { activityType, activityId } = attempt;
    const line = `${activityType} blocked the worker's event loop: ${ADVICE}`;
    this.#logs.get(key)?.warn(line, { seconds, activityId, attempt: attempt.attempt, stack });
  }

  async #assertNotBlocking(running: RunningAttempt): Promise<void> {
    const { activityType, attempt } = infoOf(running);
    if (attempt === 1) return;
    const verdict = await withTimeout(this.#verdictOn(running), VERDICT_LIMIT_MS);
    if (!verdict || verdict.attempt >= attempt) return;
    const seconds = Math.round(verdict.blockedMs / 1_000);
    throw ApplicationFailure.nonRetryable(
      [
        `${activityType} blocked the worker's event loop for over ${seconds} s: ${ADVICE}`,
        ...verdict.stack,
      ].join('\n    '),
      EVENT_LOOP_BLOCKED,
    );
  }

  /** Undefined too while storage doesn't answer: the attempt then runs. */
  async #verdictOn(running: RunningAttempt): Promise<Verdict | undefined> {
    try {
      const bytes = await this.storage.read(keyOf(infoOf(running))).catch(undefinedIf('not_found'));
      return bytes && (JSON.parse(bytes.toString()) as Verdict);
    } catch (error) {
      this.logger.debug({ err: error }, "an activity's earlier attempts can't be read");
      return undefined;
    }
  }

  async #acquit(running: RunningAttempt): Promise<void> {
    const key = keyOf(infoOf(running));
    if (!this.#judged.delete(key)) return;
    await this.storage
      .remove(key)
      .catch((error: unknown) => this.logger.debug({ err: error }, 'a verdict is left in storage'));
  }
}

function infoOf({ context, operationId }: RunningAttempt): Omit<SampledAttempt, 'beatAgeMs'> {
  const { workflowExecution, activityId, activityType, attempt, heartbeatTimeoutMs = 0 } = context.info;
  const { runId } = workflowExecution!;
  return { operationId, runId, activityId, activityType, attempt, heartbeatTimeoutMs };
}

function keyOf({
  operationId,
  runId,
  activityId,
}: Pick<SampledAttempt, 'operationId' | 'runId' | 'activityId'>): string {
  return blockedActivityKey(operationId, runId, activityId);
}

function currentStack(): string {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is put back as it is
  const { stackTraceLimit, prepareStackTrace } = Error;
  const holder: { stack?: string } = {};
  try {
    Error.stackTraceLimit = STACK_FRAMES;
    // An author's library may return anything else than text.
    (Error as { prepareStackTrace?: unknown }).prepareStackTrace = undefined;
    Error.captureStackTrace(holder);
    return holder
      .stack!.split('\n')
      .slice(1 + OWN_FRAMES)
      .join('\n');
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  }
}

/** The author's frames, without paths of the host: a path within the project, or the file's name. */
function shownFrames(stack: string, project: string): string[] {
  return stack
    .split('\n')
    .filter((line) => !INTERNAL.test(line) && !line.includes(OWN_FILE))
    .slice(0, SHOWN_FRAMES)
    .map((line) => line.trim().replace(PATH, (_whole, path: string) => shownPath(path, project)));
}

function shownPath(path: string, project: string): string {
  return path.startsWith(`${project}/`) ? relative(project, path) : basename(path);
}
