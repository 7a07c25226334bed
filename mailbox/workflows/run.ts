/** One run of a mailbox's workflow: what it shows in its memo, and when and how it goes on as the next one. */
import {
  allHandlersFinished,
  ApplicationFailure,
  makeContinueAsNewFunc,
  upsertMemo,
  workflowInfo,
  type Workflow,
} from '@temporalio/workflow';
import { MAILBOX_MEMO, type Refusal } from '../wire.js';

/** Temporal holds back the run that follows one of less than a second: none is that short, in milliseconds. */
const SHORTEST_RUN_MS = 1_100;

export class Run {
  #changes = 0;
  #isOver = false;
  #isDirty = false;

  constructor(
    private readonly memo: () => object,
    /** Changes are counted here and not events in history: this number is the same in every replay. */
    private readonly continueAfterChanges: number,
  ) {}

  /**
   * Decides whether this run is over. Called by what leaves an event in history, and never by a condition: a refused update
   * has conditions evaluated too, at a later time and with new information on history, and no replay knows of it.
   */
  decide(): void {
    const { continueAsNewSuggested, runStartTime } = workflowInfo();
    const isLong = this.#changes >= this.continueAfterChanges || continueAsNewSuggested;
    if (isLong && Date.now() - runStartTime.getTime() >= SHORTEST_RUN_MS) this.#isOver = true;
  }

  /** Something happened that the memo doesn't show. */
  count(): void {
    this.#changes += 1;
    this.decide();
  }

  /** What the memo shows has changed. It is written once a workflow task, however many changes that brought. */
  changed(): void {
    this.count();
    if (this.#isDirty) return;
    this.#isDirty = true;
    void Promise.resolve().then(() => {
      this.#isDirty = false;
      upsertMemo({ [MAILBOX_MEMO]: this.memo() });
    });
  }

  /** Is it time for the next run, and nothing under way that the end of this one would cut off? */
  isFull(): boolean {
    return this.#isOver && allHandlersFinished();
  }

  /** Goes on as the next run, which shows the same from its first moment. */
  continueAsNew<W extends Workflow>(...args: Parameters<W>): Promise<never> {
    return makeContinueAsNewFunc<W>({ memo: { [MAILBOX_MEMO]: this.memo() } })(...args);
  }
}

/** Refuses an update. Thrown by a validator it leaves no history. @param details for the client */
export function refuse(why: Refusal, message: string = why, ...details: unknown[]): never {
  throw ApplicationFailure.nonRetryable(message, why, ...details);
}
