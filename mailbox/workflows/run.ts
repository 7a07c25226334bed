/** Common base of the inbox and the directory: a run that writes its memo and continues as new, updates, and received messages. */
import type { UpdateDefinition } from '@temporalio/common';
import {
  allHandlersFinished,
  ApplicationFailure,
  makeContinueAsNewFunc,
  setHandler,
  upsertMemo,
  workflowInfo,
  type Workflow,
} from '@temporalio/workflow';
import type { SentMessage, StoredMessage } from '../state.js';
import { MAILBOX_MEMO, type Refusal } from '../wire.js';

/** Minimum length of a run, in milliseconds: Temporal delays the next run after one of less than a second. */
const SHORTEST_RUN_MS = 1_100;

export class Run {
  #changes = 0;
  #isOver = false;
  #isDirty = false;

  constructor(
    private readonly memo: () => object,
    /** Counts changes, not events: every replay has the same number of them. */
    private readonly continueAfterChanges: number,
  ) {}

  /**
   * Decides whether this run is over. Call it only in handlers that leave an event in history, never in a condition: a refused
   * update also evaluates conditions, later and with newer information on history, and replays don't repeat that.
   */
  decide(): void {
    const { continueAsNewSuggested, runStartTime } = workflowInfo();
    const isLong = this.#changes >= this.continueAfterChanges || continueAsNewSuggested;
    if (isLong && Date.now() - runStartTime.getTime() >= SHORTEST_RUN_MS) this.#isOver = true;
  }

  /** Counts a change that isn't in the memo. */
  count(): void {
    this.#changes += 1;
    this.decide();
  }

  /** Counts a change that is in the memo. Each workflow task writes the memo once, for any number of changes. */
  changed(): void {
    this.count();
    if (this.#isDirty) return;
    this.#isDirty = true;
    void Promise.resolve().then(() => {
      this.#isDirty = false;
      upsertMemo({ [MAILBOX_MEMO]: this.memo() });
    });
  }

  isFull(): boolean {
    return this.#isOver && allHandlersFinished();
  }

  /** The next run starts with the same memo. */
  continueAsNew<W extends Workflow>(...args: Parameters<W>): Promise<never> {
    return makeContinueAsNewFunc<W>({ memo: { [MAILBOX_MEMO]: this.memo() } })(...args);
  }
}

/** Refuses an update. In a validator this leaves no event in history. @param details for the client */
export function refuse(why: Refusal, message: string = why, ...details: unknown[]): never {
  throw ApplicationFailure.nonRetryable(message, why, ...details);
}

interface UpdateHandler<R, A> {
  description: string;
  /** May refuse the update; see {@link refuse}. */
  validate: (argument: A) => void;
  apply: (argument: A) => R | Promise<R>;
}

export function handleUpdate<R, A>(
  update: UpdateDefinition<R, [A]>,
  { description, validate, apply }: UpdateHandler<R, A>,
): void {
  setHandler(update, apply, { validator: validate, description });
}

/** A message as the workflow that takes it keeps it. Its times are the workflow's, since a server's clock may be wrong. */
export function received({ ttlMs, ...message }: SentMessage): StoredMessage {
  const now = Date.now();
  return { ...message, sentAt: now, expiresAt: now + ttlMs };
}
