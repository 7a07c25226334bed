/**
 * The watchdog's thread. It notices that the main thread's event loop is blocked, and asks the main thread what it is doing: the
 * inspector evaluates an expression there even within a loop. It also writes the verdict, because the next attempt may come first.
 */
import { Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import { openStorage } from '../../../platform/storage/index.js';
import { blockedActivityKey } from '../../../platform/storage/keys.js';
import {
  BEAT_MS,
  SAMPLE,
  type Sample,
  type SampledAttempt,
  type ThreadData,
  type ThreadMessage,
  type Verdict,
  type Block,
} from './sample.js';

const FIRST_SAMPLE_MS = 1_000;
/** Shorter blocks are not reported. */
const SHORTEST_BLOCK_MS = 2_000;

/** An open block of the event loop: when to sample the main thread, and which attempt to blame. */
class CurrentBlock {
  /** Counted in looks, not by the clock: a stopped process or a sleeping machine isn't blocked. */
  blockedMs = 0;
  isOver = false;
  isJudged = false;
  isSampling = false;
  #nextSampleMs = FIRST_SAMPLE_MS;
  #sampledMs = 0;
  /** Time for which samples showed one attempt's code. */
  #namedMs = 0;
  #attempt: SampledAttempt | undefined;
  #hasSeveral = false;
  /** Frames of the last sample that shows an attempt's code, else of the last one. */
  stack: string[] = [];

  constructor(readonly beats: number) {}

  /** Counts a look that found the loop still blocked. @returns whether to sample the main thread now */
  look(): boolean {
    this.blockedMs += BEAT_MS;
    if (this.isSampling || this.blockedMs < this.#nextSampleMs) return false;
    this.isSampling = true;
    return true;
  }

  /** @param sample undefined if it failed or belongs to a later turn of the loop */
  add(sample: Sample | undefined): void {
    this.isSampling = false;
    this.#nextSampleMs = 2 * this.blockedMs;
    if (!sample) return;
    // Native code delays a sample until its end, so the sample stands for all the time before.
    const coveredMs = this.blockedMs - this.#sampledMs;
    this.#sampledMs = this.blockedMs;
    const { attempt, stack } = sample;
    if (!attempt) {
      if (!this.#attempt) this.stack = stack;
      return;
    }
    this.stack = stack;
    this.#hasSeveral ||= this.#attempt !== undefined && !isSame(attempt, this.#attempt);
    this.#attempt = attempt;
    this.#namedMs += coveredMs;
    const { heartbeatTimeoutMs, beatAgeMs } = attempt;
    if (heartbeatTimeoutMs > beatAgeMs)
      this.#nextSampleMs = Math.min(this.#nextSampleMs, this.blockedMs + heartbeatTimeoutMs - beatAgeMs);
  }

  /** The attempt that blocked the loop, if nearly all samples show it and none shows another. */
  get #culprit(): SampledAttempt | undefined {
    return !this.#hasSeveral && this.#namedMs > this.#sampledMs / 2 ? this.#attempt : undefined;
  }

  /** The culprit once Temporal has given up on it for lack of heartbeats. */
  get timedOut(): SampledAttempt | undefined {
    const culprit = this.#culprit;
    if (!culprit?.heartbeatTimeoutMs || culprit.beatAgeMs < culprit.heartbeatTimeoutMs) return undefined;
    // Heartbeats come four times in a time-out. A process that was stopped has missed more.
    return this.blockedMs >= culprit.heartbeatTimeoutMs / 2 ? culprit : undefined;
  }

  /** Undefined if it is too short to be reported. */
  summary(): Block | undefined {
    if (this.blockedMs < SHORTEST_BLOCK_MS || this.stack.length === 0) return undefined;
    const attempt = this.#culprit;
    return { blockedMs: this.blockedMs, stack: this.stack, ...(attempt ? { attempt } : {}) };
  }
}

function isSame(one: SampledAttempt, other: SampledAttempt): boolean {
  return one.runId === other.runId && one.activityId === other.activityId && one.attempt === other.attempt;
}

const { beats, storageChoice } = workerData as ThreadData;
const storage = openStorage(storageChoice);

let block = new CurrentBlock(Atomics.load(beats, 0));

function look(): void {
  const now = Atomics.load(beats, 0);
  if (now === block.beats) {
    if (block.look()) sample(block);
    return;
  }
  block.isOver = true;
  reportEnd(block);
  block = new CurrentBlock(now);
}

function sample(of: CurrentBlock): void {
  const session = new Session();
  session.connectToMainThread();
  const expression = `globalThis[Symbol.for('${SAMPLE}')]()`;
  session.post('Runtime.evaluate', { expression, returnByValue: true }, (error, answer) => {
    session.disconnect();
    const found = error ? undefined : sampleIn(answer.result.value);
    of.add(found?.beats === of.beats ? found : undefined);
    const { timedOut } = of;
    if (timedOut && !of.isJudged) void judge(of, timedOut);
    reportEnd(of);
  });
}

/** Undefined without a sample: a debugger is there, or the author's code broke the expression. */
function sampleIn(value: unknown): Sample | undefined {
  return typeof value === 'string' ? ((JSON.parse(value) as Sample | null) ?? undefined) : undefined;
}

async function judge(of: CurrentBlock, attempt: SampledAttempt): Promise<void> {
  of.isJudged = true;
  const { operationId, runId, activityId } = attempt;
  const { blockedMs, stack } = of;
  const verdict: Verdict = { attempt: attempt.attempt, blockedMs, stack };
  try {
    await storage.put(
      blockedActivityKey(operationId, runId, activityId),
      Buffer.from(JSON.stringify(verdict)),
    );
    send({ judged: attempt });
  } catch (error) {
    // The next sample tries again.
    of.isJudged = false;
    send({ failure: String(error) });
  }
}

function reportEnd(of: CurrentBlock): void {
  const ended = of.isOver && !of.isSampling ? of.summary() : undefined;
  if (ended) send({ ended });
}

function send(message: ThreadMessage): void {
  parentPort!.postMessage(message);
}

setInterval(look, BEAT_MS);
