/** The turn of an operation whose tool has a queue: requested before the author's code runs, and returned when it ends. */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { defined } from '../../operations/json/defined.js';
import { retryAdvice, retryAfterSeconds } from '../../operations/wire/queue-messages.js';
import {
  ASK_TURN_ACTIVITY,
  QUEUE_FULL,
  RETURN_TURN_ACTIVITY,
  TURN_SIGNAL,
  type TurnNotice,
  type TurnRequest,
} from '../../operations/wire/queue-wire.js';
import { measureTurn } from './measure.js';
import { changeState, partMemo, startMemo, state } from './state.js';

const { [ASK_TURN_ACTIVITY]: ask, [RETURN_TURN_ACTIVITY]: giveBack } = proxyLocalActivities<{
  [ASK_TURN_ACTIVITY]: (request: TurnRequest) => Promise<void>;
  [RETURN_TURN_ACTIVITY]: (queue: string, id: string) => Promise<void>;
}>({ startToCloseTimeout: '10s' });

/** Whether the operation needs a turn to run. Parts share their operation's turn. */
export function hasQueue(): boolean {
  return startMemo()?.queue !== undefined && partMemo() === undefined;
}

/** @throws ApplicationFailure `QueueFull` or `QueueTimeout` if there is no turn; CancelledFailure */
export async function takeTurn(): Promise<void> {
  if (state().turnAt !== undefined) return;
  const { queue, principal, priority, estimateSeconds, createdAt } = startMemo()!;
  const { workflowId, startTime } = workflowInfo();
  const createdAtMs = createdAt === undefined ? startTime.getTime() : Date.parse(createdAt);
  const askedMs = Date.now();
  const notices: TurnNotice[] = [];
  setHandler(TURN_SIGNAL, (notice) => void notices.push(notice), {
    description: "The queue's answer: the operation runs, or is refused.",
  });
  await ask({ id: workflowId, principal, createdAtMs, queue: queue!, ...defined({ priority }) });
  await condition(() => notices.length > 0);
  const notice = notices[0]!;
  if (notice.isGranted) {
    const nowMs = Date.now();
    changeState({ turnAt: new Date(nowMs).toISOString(), turnWaitedMs: nowMs - askedMs });
    measureTurn(nowMs - askedMs);
    return;
  }
  const { type, message } = notice;
  const advice =
    type === QUEUE_FULL ? retryAdvice(retryAfterSeconds(queue!, estimateSeconds)) : '; try again later';
  throw ApplicationFailure.nonRetryable(message + advice, type);
}

/** Returns the turn, or the place of an operation that still waits. */
export function returnTurn(): Promise<void> {
  const { name } = startMemo()!.queue!;
  return CancellationScope.nonCancellable(() => giveBack(name, workflowInfo().workflowId));
}
