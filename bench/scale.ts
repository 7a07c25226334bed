/**
 * Scale: many operations are started, ask a question, are read at random, then answered until all are closed. Prints rates,
 * CPU, memory and the database's size, beside what bench/scale/model.ts predicts from the run over 500.
 *
 *     node --import jiti/register bench/scale.ts [--operations 10000] [--short]
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { historyCost } from '../test/support/history-cost.js';
import { comparePrediction, costsOf } from './scale/model.js';
import { PARTS, phase, sample, steady, type Phase, type ScaleRun } from './scale/phases.js';
import {
  IS_SHORT,
  peakMb,
  printTable,
  report,
  shortened,
  type Stack,
  timeRuns,
  untilCount,
  withStack,
} from './support.js';

const { values: given } = parseArgs({
  options: { operations: { type: 'string', default: '10000' }, short: { type: 'boolean' } },
});
const OPERATIONS = shortened(Number(given.operations));
const WARM_UP = shortened(300);
const STARTS_AT_ONCE = 32;
const READS_AT_ONCE = 8;
const ANSWERS_AT_ONCE = 16;
/** Reads: as many as operations, within these bounds. */
const READS = Math.min(20_000, Math.max(shortened(2_000), OPERATIONS));
/** Operations on subscriptions, and those that run an activity: fewer than a worker's 100 slots. */
const WATCHED = Math.min(1_000, OPERATIONS);
const WATCHED_ON_STREAM = 100;
const ACTIVE = 50;
/** Time over which CPU is measured without calls, in milliseconds; as long before, until intervals have settled. */
const STEADY_MS = IS_SHORT ? 5_000 : 20_000;
const REST_MS = IS_SHORT ? 5_000 : 60_000;
/** The run from which the model's costs are taken: all of its workflows are cached. */
const CALIBRATION_OPERATIONS = 500;
const CALIBRATION = `bench/results/scale-${CALIBRATION_OPERATIONS}.json`;
const ENVIRONMENT: Record<string, string> =
  OPERATIONS === CALIBRATION_OPERATIONS ? { LONGHAUL_MAX_CACHED_WORKFLOWS: String(OPERATIONS) } : {};

const ASKER = "WorkflowType = 'asker' AND ExecutionStatus = 'Running'";
const ASKING = `${ASKER} AND LonghaulStatus = 'input_required'`;

async function answer({ client }: Stack, taskId: string): Promise<void> {
  const { error } = await client.answer(taskId, 'input-1', { action: 'accept', content: { proceed: true } });
  if (error) throw new Error(JSON.stringify(error));
}

/** CPU while operations are watched on subscriptions. */
async function watching(stack: Stack, taskIds: string[]) {
  const streams = [];
  for (let from = 0; from < taskIds.length; from += WATCHED_ON_STREAM)
    streams.push(await stack.client.listen({ taskIds: taskIds.slice(from, from + WATCHED_ON_STREAM) }));
  await sleep(STEADY_MS);
  const measured = await steady(stack, taskIds.length, STEADY_MS);
  for (const stream of streams) stream.close();
  return measured;
}

/** CPU while operations run one activity each. */
async function running(stack: Stack, temporal: Client) {
  const taskIds: string[] = [];
  await timeRuns(ACTIVE, 16, async () => taskIds.push(await stack.client.start('long_activity')));
  await sleep(STEADY_MS);
  const measured = await steady(stack, ACTIVE, STEADY_MS);
  await timeRuns(ACTIVE, 16, (index) => stack.client.request('tasks/cancel', { taskId: taskIds[index] }));
  await untilCount(temporal, "WorkflowType = 'long_activity' AND ExecutionStatus = 'Running'", 0);
  return measured;
}

async function run(stack: Stack, temporal: Client): Promise<ScaleRun> {
  const { client } = stack;
  // Warm-up: code is slow in its first runs. Few are open at a time, so that heaps keep their size.
  await timeRuns(WARM_UP, 8, async () => {
    const taskId = await client.start('asker');
    await client.until(taskId, 'input_required');
    await answer(stack, taskId);
    await client.until(taskId, 'completed');
  });
  await sleep(REST_MS / 2);

  const idle = sample(stack, 'idle, after a warm-up');
  const unused = await steady(stack, 0, STEADY_MS);
  const active = await running(stack, temporal);
  console.error('activities: done');
  const taskIds: string[] = [];
  const start = await phase(
    stack,
    OPERATIONS,
    STARTS_AT_ONCE,
    async () => taskIds.push(await client.start('asker')),
    () => untilCount(temporal, ASKING, OPERATIONS),
  );
  console.error('all are open');
  const open = sample(stack, `${OPERATIONS} open, all ask`);
  const read = await phase(stack, READS, READS_AT_ONCE, () =>
    client.get(taskIds[Math.floor(Math.random() * OPERATIONS)]!),
  );
  console.error('reads: done');
  const afterReads = sample(stack, `after ${READS} reads`);
  const watched = await watching(stack, taskIds.slice(0, WATCHED));
  console.error('subscriptions: done');
  const answers = await phase(
    stack,
    OPERATIONS,
    ANSWERS_AT_ONCE,
    (index) => answer(stack, taskIds[index]!),
    () => untilCount(temporal, ASKER, 0),
  );
  const closed = sample(stack, 'all answered and closed');
  await sleep(REST_MS);
  return {
    operations: OPERATIONS,
    samples: {
      idle,
      open,
      read: afterReads,
      closed,
      rested: sample(stack, `after ${REST_MS / 1000} s of rest`),
    },
    phases: { start, read, answer: answers },
    steady: { idle: unused, watched, active },
    workerPeakMb: Math.round(peakMb(stack.home.parts().worker)),
    history: await historyCost(temporal, taskIds[0]!),
  };
}

await withStack(async (stack) => {
  const connection = await NativeConnection.connect({ address: stack.temporalAddress });
  const measured = await run(stack, new Client({ connection }));
  await connection.close();
  const { samples, phases } = measured;
  const row = (name: string, { calls, callsPerSecond, p50Ms, p99Ms, seconds, cpuMs }: Phase) => [
    name,
    String(calls),
    `${callsPerSecond.toFixed(0)}/s`,
    `${p50Ms.toFixed(1)} ms (p99 ${p99Ms.toFixed(0)})`,
    `${seconds.toFixed(0)} s`,
    [...PARTS, 'client' as const].map((part) => `${part} ${cpuMs[part].toFixed(1)}`).join(', '),
  ];
  report(
    `scale-${OPERATIONS}`,
    [`${OPERATIONS} operations`, 'calls', 'rate', 'one call', 'until all effects', 'CPU, ms a call'],
    [
      row(`start, ${STARTS_AT_ONCE} at once, until it asks`, phases.start),
      row(`tasks/get at random, ${READS_AT_ONCE} at once`, phases.read),
      row(`answer, ${ANSWERS_AT_ONCE} at once, until it is closed`, phases.answer),
    ],
    { ...measured },
  );
  console.log();
  printTable(
    ['resident, MB', ...PARTS, 'database'],
    Object.values(samples).map(({ name, memoryMb, databaseMb }) => [
      name,
      ...PARTS.map((part) => String(memoryMb[part])),
      String(databaseMb),
    ]),
  );
  console.log();
  printTable(
    ['CPU without calls, ms a second', ...PARTS],
    Object.entries(measured.steady).map(([name, { operations, cpuMs }]) => [
      operations === 0 ? name : `${operations} operations ${name}`,
      ...PARTS.map((part) => cpuMs[part].toFixed(0)),
    ]),
  );
  console.log(
    `\nWorker at its highest: ${measured.workerPeakMb} MB. One operation: ${JSON.stringify(measured.history)}`,
  );
  if (!existsSync(CALIBRATION) || OPERATIONS === CALIBRATION_OPERATIONS) return;
  console.log('\nThe model, with the costs of the run over 500 operations:\n');
  const costs = costsOf(JSON.parse(readFileSync(CALIBRATION, 'utf8')) as ScaleRun);
  printTable(['', 'predicted', 'measured', 'ratio'], comparePrediction(costs, measured));
}, ENVIRONMENT);
