/** Local activities of queues: a workflow itself can't signal-with-start another one, or learn whether it is still open. */
import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Activity } from '../platform/project-code.js';
import {
  ASK_TURN_ACTIVITY,
  ASK_TURN_SIGNAL,
  CHECK_TURNS_ACTIVITY,
  QUEUE_WORKFLOW,
  queueWorkflowId,
  RETURN_TURN_ACTIVITY,
  RETURN_TURN_SIGNAL,
  TELL_TURNS_ACTIVITY,
  TURN_SIGNAL,
  type AddressedNotice,
  type QueueInput,
  type TurnRequest,
} from '../operations/queue-wire.js';
import { queueStart } from '../platform/queue-start.js';

const CALLS_AT_ONCE = 10;

async function askTurn(request: TurnRequest): Promise<void> {
  const { client, info } = Context.current();
  await client.workflow.signalWithStart<(input: QueueInput) => Promise<void>, [TurnRequest]>(QUEUE_WORKFLOW, {
    ...queueStart(info.taskQueue, request.queue.name),
    signal: ASK_TURN_SIGNAL,
    signalArgs: [request],
  });
}

async function returnTurn(queue: string, id: string): Promise<void> {
  const { client, info } = Context.current();
  const handle = client.workflow.getHandle(queueWorkflowId(info.taskQueue, queue));
  await isOpen(handle.signal(RETURN_TURN_SIGNAL, id));
}

function tellTurns(notices: AddressedNotice[]): Promise<string[]> {
  const { client } = Context.current();
  return closedOf(notices, ({ id, notice }) =>
    isOpen(client.workflow.getHandle(id).signal(TURN_SIGNAL, notice)),
  );
}

function checkTurns(ids: string[]): Promise<string[]> {
  const { client } = Context.current();
  return closedOf(
    ids.map((id) => ({ id })),
    ({ id }) =>
      isOpen(
        client.workflow
          .getHandle(id)
          .describe()
          .then(({ status }) => status.name === 'RUNNING'),
      ),
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
async function isOpen(call: Promise<boolean | void>): Promise<boolean> {
  try {
    return (await call) ?? true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

export const TURN_ACTIVITIES: Record<string, Activity> = {
  [ASK_TURN_ACTIVITY]: askTurn,
  [RETURN_TURN_ACTIVITY]: returnTurn,
  [TELL_TURNS_ACTIVITY]: tellTurns,
  [CHECK_TURNS_ACTIVITY]: checkTurns,
};
