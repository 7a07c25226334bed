/**
 * The watchdog's thread. It notices that the main thread's event loop is blocked, and asks the main thread what it is doing: the
 * inspector evaluates an expression there even within a loop. It also writes the verdict, because the next attempt may come first.
 */
import { Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import { openStorage } from '../../../platform/storage/index.js';
import { blockedActivityKey } from '../../../platform/storage/keys.js';
import { CurrentBlock } from './current-block.js';
import {
  BEAT_MS,
  SAMPLE,
  type Sample,
  type SampledAttempt,
  type ThreadData,
  type ThreadMessage,
  type Verdict,
} from './sample.js';

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
