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
  const { client, info } = Context.current();
  const name = changes.find((change) => 'ask' in change)?.ask.queue.name;
  await client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
    if (name === undefined)
      await reachesOpen(client.workflow.getHandle(queueId).signal(TURN_CHANGES_SIGNAL, changes));
    else
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
  });
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

/** Changes in one signal, of a few hundred bytes each. */
const MAX_CHANGES = 100;

interface Batch {
  changes: TurnChange[];
  sent: Promise<void>;
}

/**
 * Sends one signal at a time to each queue, in the order of the calls. Changes that come meanwhile go together with the next signal, so
 * a busy queue gets fewer of them, and an idle one no later.
 */
export class TurnSender {
  /** By the queue's workflow ID: the batch that changes still join. */
  readonly #open = new Map<string, Batch>();
  /** By the queue's workflow ID: the last batch, sent or not. */
  readonly #last = new Map<string, Promise<void>>();

  /** @param signal sends one batch, and ends within a time limit: the next one waits for it */
  constructor(private readonly signal: (queueId: string, changes: TurnChange[]) => Promise<void>) {}

  /** Resolves once the queue has the change. @throws what the signal of its batch throws */
  send(queueId: string, change: TurnChange): Promise<void> {
    const open = this.#open.get(queueId);
    if (!open || open.changes.length >= MAX_CHANGES) return this.#enqueue(queueId, [change]);
    open.changes.push(change);
    return open.sent;
  }

  #enqueue(queueId: string, changes: TurnChange[]): Promise<void> {
    const sent = this.#sendAfter(this.#last.get(queueId), queueId, changes);
    this.#open.set(queueId, { changes, sent });
    this.#last.set(queueId, sent);
    return sent;
  }

  async #sendAfter(before: Promise<void> | undefined, queueId: string, changes: TurnChange[]): Promise<void> {
    // Even with nothing before it, calls of the same moment join.
    await before?.catch(() => undefined);
    if (this.#open.get(queueId)?.changes === changes) this.#open.delete(queueId);
    try {
      await this.signal(queueId, changes);
    } finally {
      if (!this.#open.has(queueId)) this.#last.delete(queueId);
    }
  }
}
