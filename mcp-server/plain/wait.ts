/** Waiting for an operation within a call. The end of a wait ends nothing but the wait. */
import type { Engine } from '../../engine/index.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import { withBudget } from '../shared/budget.js';
import type { Caller } from '../shared/caller.js';
import { isOver, plainStatus } from './envelope/status.js';

/** Shortest and longest wait that a caller may ask for, in seconds: above 0, and a day. */
export const LONGEST_WAIT_SECONDS = 24 * 3600;

/**
 * How long a wait goes on beside a question that was sent to the client and isn't answered, in seconds. Some clients
 * declare elicitation and never answer: a call of theirs ends with the question, and its answer is still taken later.
 */
const UNANSWERED_SECONDS = 15;

export interface Waited {
  /** As it was read last. */
  record: OperationRecord;
  /**
   * `over`: it has ended; `question`: it waits for an answer that this call can't get, or didn't get in time; `budget`: the
   * time has passed, or the client has gone; `stopping`: this server shuts down.
   */
  why: 'over' | 'question' | 'budget' | 'stopping';
}

/**
 * Waits until an operation has ended, or asks something that this call can't bring to a person or that stays unanswered
 * for {@link UNANSWERED_SECONDS}, or the time has passed.
 * Progress goes to the caller meanwhile.
 *
 * @param started the operation as it was read before
 */
export async function waitFor(
  engine: Engine,
  started: OperationRecord,
  timeoutSeconds: number,
  caller: Caller,
): Promise<Waited> {
  const { onProgress, principal, shutdown } = caller;
  const waitEnded = () => ({ record, why: shutdown.hasBegun ? ('stopping' as const) : ('budget' as const) });
  let record = started;
  const unanswered = new UnansweredTimer();
  const ended = async (signal: AbortSignal): Promise<Waited['why']> => {
    for await (const { hasProgressed, ...read } of engine.watch(principal, started.token, {
      signal: AbortSignal.any([signal, unanswered.signal]),
      progress: onProgress !== undefined,
    })) {
      record = read;
      if (hasProgressed) await onProgress?.(record.progress!);
      if (isOver(plainStatus(record))) return 'over';
      const isOpen = hasOpenQuestion(record, caller);
      if (isOpen && caller.questions?.kind !== 'stream') return 'question';
      unanswered.update(isOpen ? Object.keys(record.inputRequests) : []);
      if (isOpen && caller.questions?.kind === 'stream') await caller.questions.show(record);
    }
    return unanswered.signal.aborted && !signal.aborted ? 'question' : 'budget';
  };
  try {
    const ends = AbortSignal.any([caller.signal, shutdown.signal]);
    const why = await withBudget(timeoutSeconds, ends, ended);
    return why === 'budget' ? waitEnded() : { record, why };
  } catch (error) {
    // What is known of it stands: its token above all.
    if (!(error instanceof LonghaulError)) throw error;
    return waitEnded();
  } finally {
    unanswered.stop();
  }
}

/** Fires when questions have been open for too long without an answer to any of them. */
class UnansweredTimer {
  readonly #passed = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #open = '';

  get signal(): AbortSignal {
    return this.#passed.signal;
  }

  /** @param keys of the open questions: others than before mean that one was answered or asked, and the time begins again */
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

/** Does it wait for answers that weren't given in this call already? */
function hasOpenQuestion(record: OperationRecord, { questions }: Caller): boolean {
  if (plainStatus(record) !== 'input_required') return false;
  const answered = questions?.kind === 'result' ? questions.answered : undefined;
  return Object.keys(record.inputRequests).some((key) => !answered?.has(key));
}
