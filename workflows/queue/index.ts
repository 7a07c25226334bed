/**
 * Workflow of a queue: gives turns to the operations of the tools that declare it. Operations ask and return by signals. Local
 * activities send the answers as signals, so no request waits for another and operations can't block the queue. While others
 * wait, it asks Temporal for holders that ended without returning their turn.
 */
import {
  condition,
  makeContinueAsNewFunc,
  proxyLocalActivities,
  setHandler,
  setWorkflowOptions,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import {
  CHECK_TURNS_ACTIVITY,
  PLACES_MEMO,
  REFUSAL_QUERY,
  TELL_TURNS_ACTIVITY,
  TURN_CHANGES_SIGNAL,
  type AddressedNotice,
  type Places,
  type QueueInput,
} from '../../operations/wire/queue-wire.js';
import { emptyQueue, Turns } from './turns.js';

/** First and longest pause between checks of holders, in milliseconds; it doubles while checks find none that ended. */
const FIRST_CHECK_MS = 15_000;
const LONGEST_CHECK_MS = 120_000;
/** Shortest pause until the next operation that has waited too long is refused, in milliseconds. */
const SHORTEST_PAUSE_MS = 1_000;
/** An empty queue closes after this time, in milliseconds: an hour. */
const IDLE_MS = 3600_000;
/** A run continues as new after this many signals and checks, of 3 to 6 events each. */
const CHANGES = 500;
/** Minimum length of a run, in milliseconds: Temporal delays the next run after one of less than a second. */
const SHORTEST_RUN_MS = 1_100;

const { [TELL_TURNS_ACTIVITY]: tell, [CHECK_TURNS_ACTIVITY]: check } = proxyLocalActivities<{
  [TELL_TURNS_ACTIVITY]: (notices: AddressedNotice[]) => Promise<string[]>;
  [CHECK_TURNS_ACTIVITY]: (ids: string[]) => Promise<string[]>;
}>({ startToCloseTimeout: '20s' });

class Timer {
  isFired = false;
  #isRunning = false;

  start(ms: number, summary: string): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    void sleep(Math.max(1, ms), { summary }).then(() => {
      this.#isRunning = false;
      this.isFired = true;
    });
  }

  take(): boolean {
    const isFired = this.isFired;
    this.isFired = false;
    return isFired;
  }
}

export async function longhaul_queue({ name, state = emptyQueue() }: QueueInput): Promise<void> {
  const turns = new Turns(name, state);
  let changes = 0;
  let isOver = false;
  let activeAtMs = Date.now();
  const changed = () => {
    changes += 1;
    activeAtMs = Date.now();
    const { continueAsNewSuggested, runStartTime } = workflowInfo();
    const isLong = changes >= CHANGES || continueAsNewSuggested;
    if (isLong && activeAtMs - runStartTime.getTime() >= SHORTEST_RUN_MS) isOver = true;
  };
  setHandler(
    TURN_CHANGES_SIGNAL,
    (batch) => {
      turns.change(batch, Date.now());
      changed();
    },
    { description: 'Operations of a worker ask for turns, or have ended.' },
  );
  setHandler(REFUSAL_QUERY, (principal, queue) => turns.refusal(principal, queue));

  const checks = new Timer();
  const idle = new Timer();
  let pauseMs = FIRST_CHECK_MS;
  for (;;) {
    publish(turns.places());
    if (turns.hasNotices) {
      for (const id of await tell(turns.takeNotices())) turns.remove(id);
      pauseMs = FIRST_CHECK_MS;
      continue;
    }
    if (isOver)
      await makeContinueAsNewFunc<typeof longhaul_queue>()({
        name,
        state: turns.state,
      });
    const { nextExpiryMs } = turns;
    if (nextExpiryMs === undefined) idle.start(IDLE_MS, 'time until an empty queue closes');
    else {
      const untilExpiryMs = Math.max(SHORTEST_PAUSE_MS, nextExpiryMs - Date.now());
      checks.start(Math.min(pauseMs, untilExpiryMs), 'next look at operations that hold a turn');
    }
    await condition(
      () =>
        turns.hasNotices ||
        isOver ||
        checks.isFired ||
        idle.isFired ||
        (turns.nextExpiryMs === undefined) !== (nextExpiryMs === undefined),
    );
    if (checks.take() && turns.nextExpiryMs !== undefined) {
      turns.expire(Date.now());
      const gone = await check(turns.takeToCheck());
      for (const id of gone) turns.remove(id);
      pauseMs = gone.length > 0 ? FIRST_CHECK_MS : Math.min(LONGEST_CHECK_MS, pauseMs * 2);
      changed();
    }
    if (idle.take() && turns.isEmpty && Date.now() - activeAtMs >= IDLE_MS) return;
  }
}

/** Writes the order of turns, if it has changed, into the memo: readers describe the queue, which is no query. */
function publish(places: Places): void {
  const published = workflowInfo().memo?.[PLACES_MEMO] ?? { order: [] };
  if (JSON.stringify(places) !== JSON.stringify(published)) upsertMemo({ [PLACES_MEMO]: places });
}

// It never ends while it has work, so each build continues the previous build's queue.
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, longhaul_queue);
