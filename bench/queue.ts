/**
 * The most that one queue lets through, beside the same operations without a queue: bursts of operations that do nothing in one
 * activity, in alternating blocks. Also what a queue costs Temporal for each of them: events, transactions and workflow tasks.
 *
 *     node --import jiti/register bench/queue.ts [--operations 300] [--short]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { queueWorkflowId } from '../operations/wire/queue-wire.js';
import { eventually } from '../test/stack/cli-process.js';
import { costOf, type HistoryCost } from '../test/support/history-cost.js';
import { idsOf, report, shortened, timeRuns, withStack, type Stack } from './support.js';

const { values: given } = parseArgs({
  options: { operations: { type: 'string', default: '300' }, short: { type: 'boolean' } },
});
const OPERATIONS = shortened(Number(given.operations), 20);
const ROUNDS = 4;
/** Calls at a time while operations are started. */
const AT_ONCE = 32;
const LIMIT_MS = 900_000;

/** Name in the table -> tool. The first one has no queue: others are compared with it. */
const SIDES: Record<string, string> = {
  'no queue': 'noop_activity',
  'queue of 32': 'noop_in_queue',
  'queue of 4': 'noop_in_narrow_queue',
};

interface Burst {
  operations: number;
  ms: number;
}

/** Starts operations, and waits without reading them, so that readers cost nothing. @returns the time until the last one's end */
async function burst({ client }: Stack, temporal: Client, tool: string, count: number): Promise<Burst> {
  const query = `WorkflowType = '${tool}' AND ExecutionStatus = 'Completed'`;
  const before = (await temporal.workflow.count(query)).count;
  const begin = Date.now();
  await timeRuns(count, AT_ONCE, () => client.start(tool));
  // More than were asked for: a busy server's start may be repeated.
  await eventually(
    `${count} more of ${query}`,
    async () => {
      await sleep(1_000);
      return (await temporal.workflow.count(query)).count >= before + count;
    },
    LIMIT_MS,
  );
  let last = begin;
  for await (const { closeTime } of temporal.workflow.list({
    query: `${query} AND CloseTime >= "${new Date(begin).toISOString()}"`,
  }))
    last = Math.max(last, closeTime!.getTime());
  return { operations: count, ms: last - begin };
}

/** Counts of all runs of the tool's queue. */
async function queueCost({ taskQueue }: Stack, temporal: Client, tool: string): Promise<HistoryCost> {
  const workflowId = queueWorkflowId(taskQueue, tool);
  const sum: HistoryCost = { events: 0, actions: 0, workflowTasks: 0, transitions: 0, visibilityWrites: 0 };
  const query = `WorkflowId = '${workflowId}'`;
  for await (const { runId } of temporal.workflow.list({ query })) {
    const cost = await costOf(temporal.workflow.getHandle(workflowId, runId));
    for (const name of Object.keys(sum) as (keyof HistoryCost)[]) sum[name] += cost[name];
  }
  return sum;
}

/** Counts once the queue has nothing to do: the last returns come after the ends of their operations. */
async function settledCost(stack: Stack, temporal: Client, tool: string): Promise<HistoryCost> {
  let last: HistoryCost | undefined;
  return eventually(`the queue of ${tool} has nothing to do`, async () => {
    const cost = await queueCost(stack, temporal, tool);
    const isSettled = cost.events === last?.events;
    last = cost;
    if (!isSettled) await sleep(1_000);
    return isSettled ? cost : undefined;
  });
}

await withStack(async (stack) => {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection });
  const names = Object.keys(SIDES);
  for (const tool of Object.values(SIDES)) await burst(stack, temporal, tool, Math.min(100, OPERATIONS));
  const hasQueue = (tool: string) => tool !== SIDES[names[0]!];
  const costs = () =>
    Promise.all(
      Object.values(SIDES).map(async (tool) =>
        hasQueue(tool) ? settledCost(stack, temporal, tool) : undefined,
      ),
    );
  const before = await costs();
  const bursts = names.map((): Burst[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [at, name] of names.entries())
      bursts[at]!.push(await burst(stack, temporal, SIDES[name]!, Math.ceil(OPERATIONS / ROUNDS)));
  const after = await costs();
  const runs = await Promise.all(
    names.map(async (name, at) => {
      const total = (of: keyof Burst) => bursts[at]!.reduce((sum, one) => sum + one[of], 0);
      const perOperation = (of: keyof HistoryCost) =>
        after[at] && (after[at][of] - before[at]![of]) / total('operations');
      const tool = SIDES[name]!;
      return {
        name,
        operations: total('operations'),
        perSecond: (1000 * total('operations')) / total('ms'),
        events: perOperation('events'),
        actions: perOperation('actions'),
        workflowTasks: perOperation('workflowTasks'),
        transitions: perOperation('transitions'),
        queueRuns: hasQueue(tool)
          ? (await idsOf(temporal, `WorkflowId = '${queueWorkflowId(stack.taskQueue, tool)}'`)).length
          : 0,
      };
    }),
  );
  await connection.close();
  const figure = (value: number | undefined) => (value === undefined ? '' : value.toFixed(1));
  report(
    'queue',
    ['', 'operations', 'a second', 'ratio', 'events', 'actions', 'workflow tasks', 'transactions', 'runs'],
    runs.map((one) => [
      one.name,
      String(one.operations),
      figure(one.perSecond),
      (one.perSecond / runs[0]!.perSecond).toFixed(2),
      ...[one.events, one.actions, one.workflowTasks, one.transitions].map(figure),
      one.queueRuns === 0 ? '' : String(one.queueRuns),
    ]),
    { runs },
  );
});
