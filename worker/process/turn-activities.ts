/** Local activities about turns: of operations, which ask for them and return them, and of queues, which answer. */
import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/common';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../../operations/tool/budgets.js';
import { PRIORITIES } from '../../operations/tool/queue.js';
import {
  ASK_TURN_ACTIVITY,
  CHECK_TURNS_ACTIVITY,
  QUEUE_WORKFLOW,
  queueWorkflowId,
  RETURN_TURN_ACTIVITY,
  TELL_TURNS_ACTIVITY,
  TURN_CHANGES_SIGNAL,
  TURN_SIGNAL,
  type AddressedNotice,
  type QueueInput,
  type TurnChange,
  type TurnRequest,
} from '../../operations/wire/queue-wire.js';
import type { Activity } from '../../platform/project/code.js';
import { CALL_LIMIT_MS, isOpen } from '../../platform/temporal/find-workflow.js';
import { TurnSender } from './turn-sender.js';

/** Calls to Temporal at once, about a queue's operations. */
const CALLS_AT_ONCE = 10;

/** The activities by type. */
export function turnActivities(): Record<string, Activity> {
  const sender = new TurnSender(signalQueue);
  const send = (queue: string, change: TurnChange) =>
    sender.send(queueWorkflowId(Context.current().info.taskQueue, queue), change);
  return {
    [ASK_TURN_ACTIVITY]: (request: TurnRequest) => send(request.queue.name, { ask: request }),
    [RETURN_TURN_ACTIVITY]: (queue: string, id: string) => send(queue, { return: id }),
    [TELL_TURNS_ACTIVITY]: tellTurns,
    [CHECK_TURNS_ACTIVITY]: checkTurns,
  };
}

/** Sends changes to a queue, and starts it for a request. A workflow itself can't signal-with-start another one. */
async function signalQueue(queueId: string, changes: TurnChange[]): Promise<void> {
  const { client } = Context.current();
  const asked = changes.find((change) => 'ask' in change);
  await client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
    if (asked) await signalWithStart(queueId, asked.ask.queue.name, changes);
    else await reachesOpen(client.workflow.getHandle(queueId).signal(TURN_CHANGES_SIGNAL, changes));
  });
}

async function signalWithStart(queueId: string, name: string, changes: TurnChange[]): Promise<void> {
  const { client, info } = Context.current();
  await client.workflow.signalWithStart<(input: QueueInput) => Promise<void>, [TurnChange[]]>(
    QUEUE_WORKFLOW,
    {
      workflowId: queueId,
      taskQueue: info.taskQueue,
      args: [{ name }],
      staticSummary: `queue ${name}`,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      // Its tasks let others run, so they go first.
      priority: { priorityKey: PRIORITIES.first },
      signal: TURN_CHANGES_SIGNAL,
      signalArgs: [changes],
    },
  );
}

function tellTurns(notices: AddressedNotice[]): Promise<string[]> {
  const { client } = Context.current();
  return closedOf(notices, ({ id, notice }) =>
    reachesOpen(client.workflow.getHandle(id).signal(TURN_SIGNAL, notice)),
  );
}

function checkTurns(ids: string[]): Promise<string[]> {
  const { client } = Context.current();
  return closedOf(
    ids.map((id) => ({ id })),
    ({ id }) => reachesOpen(client.workflow.getHandle(id).describe().then(isOpen)),
  );
}

async function closedOf<T extends { id: string }>(
  all: T[],
  isOpenOne: (one: T) => Promise<boolean>,
): Promise<string[]> {
  const closed: string[] = [];
  for (let at = 0; at < all.length; at += CALLS_AT_ONCE)
    await Promise.all(
      all.slice(at, at + CALLS_AT_ONCE).map(async (one) => {
        if (!(await isOpenOne(one))) closed.push(one.id);
      }),
    );
  return closed;
}

/** Result of a call about a workflow; false if Temporal has no such open workflow. */
async function reachesOpen(call: Promise<boolean | void>): Promise<boolean> {
  try {
    return (await call) ?? true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
