/** Waits for an operation within a call. The end of a wait doesn't affect the operation. */
import type { Guard } from '../guard.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import { withBudget } from '../call/budget.js';
import type { CallContext } from '../call/call-context.js';
import { isOver, plainStatus } from './envelope/status.js';

/** Longest wait that a caller may request: a day. */
export const LONGEST_WAIT_SECONDS = 24 * 3600;

/**
 * How long a wait continues while a question sent to the client is unanswered, in seconds. Some clients declare elicitation and
 * never answer: their calls end with the question, and an answer is still accepted later.
 */
const UNANSWERED_SECONDS = 15;

export interface WaitResult {
  record: OperationRecord;
  /**
   * `over`: the operation has ended; `question`: it needs an answer that this call can't get, or didn't get in time; `budget`: the
   * time is up, or the client has disconnected; `stopping`: this server is shutting down.
   */
  reason: 'over' | 'question' | 'budget' | 'stopping';
}

/**
 * Waits until the operation ends, the time is up, or a question is open that this call can't show or that stays unanswered for
 * {@link UNANSWERED_SECONDS}. Reports progress to the caller meanwhile.
 *
 * @param started the operation as read before
 */
export async function waitFor(
  engine: Guard,
  started: OperationRecord,
  timeoutSeconds: number,
  callContext: CallContext,
): Promise<WaitResult> {
  const { onProgress, shutdown } = callContext;
  const waitEnded = () => ({
    record,
    reason: shutdown.hasBegun ? ('stopping' as const) : ('budget' as const),
  });
  let record = started;
  const unanswered = new UnansweredTimer();
  const ended = async (signal: AbortSignal): Promise<WaitResult['reason']> => {
    for await (const { hasProgressed, ...read } of engine.watch(started.token, {
      signal: AbortSignal.any([signal, unanswered.signal]),
      progress: onProgress !== undefined,
      onlyEnd: started.asksNothing && !onProgress,
    })) {
      record = read;
      if (hasProgressed) await onProgress?.(record.progress!);
      if (isOver(plainStatus(record))) return 'over';
      const isOpen = hasOpenQuestion(record, callContext);
      if (isOpen && callContext.questions?.kind !== 'stream') return 'question';
      unanswered.update(isOpen ? Object.keys(record.inputRequests) : []);
      if (isOpen && callContext.questions?.kind === 'stream') await callContext.questions.show(record);
    }
    return unanswered.signal.aborted && !signal.aborted ? 'question' : 'budget';
  };
  try {
    const ends = AbortSignal.any([callContext.signal, shutdown.signal]);
    const reason = await withBudget(timeoutSeconds, ends, ended);
    return reason === 'budget' ? waitEnded() : { record, reason };
  } catch (error) {
    // The caller still needs the record read so far, above all its token.
    if (!(error instanceof LonghaulError)) throw error;
    return waitEnded();
  } finally {
    unanswered.stop();
  }
}

/** Fires when questions were open for {@link UNANSWERED_SECONDS} without an answer to any of them. */
class UnansweredTimer {
  readonly #passed = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #open = '';

  get signal(): AbortSignal {
    return this.#passed.signal;
  }

  /** Restarts the timer if the set of open questions has changed. @param keys keys of the open questions */
  update(keys: string[]): void {
    const open = keys.join('\n');
    if (open === this.#open) return;
    this.#open = open;
    this.stop();
    if (keys.length) this.#timer = setTimeout(() => this.#passed.abort(), UNANSWERED_SECONDS * 1000);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Whether a question is open that this call hasn't already answered. */
function hasOpenQuestion(record: OperationRecord, { questions }: CallContext): boolean {
  if (plainStatus(record) !== 'input_required') return false;
  const answered = questions?.kind === 'result' ? questions.answered : undefined;
  return Object.keys(record.inputRequests).some((key) => !answered?.has(key));
}
