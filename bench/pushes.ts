/**
 * Pushes: the delay from a change in a workflow to the client's notification, on each protocol and by Temporal's own client;
 * waiters whose operations end at once; memory and CPU of a thousand waiters, watched operations and agents.
 *
 *     node --import jiti/register bench/pushes.ts [--short]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { startAgents } from './pushes/agents.js';
import {
  jobEvents,
  olderTasks,
  operationTokens,
  plainWait,
  subscription,
  temporalClient,
  twoStage,
  type OnText,
} from './pushes/channels.js';
import { Arrivals, channelDelays, paced, type Delays } from './pushes/delays.js';
import {
  endAll,
  endGently,
  openWaits,
  settledEvents,
  startWaiters,
  whileWaiting,
  type Waiting,
} from './pushes/waiting.js';
import { IS_SHORT, printTable, report, shortened, timeRuns, withStack, type Stack } from './support.js';

const CHANGES = shortened(1_000);
const ENDS = shortened(300);
const BURST = shortened(500);
const BURSTS = 2;
const WAITERS = shortened(1_000);
const TASKS_OF_A_STREAM = 100;
const WAIT_MS = IS_SHORT ? 5_000 : 45_000;

interface Burst {
  longhaulMs: number;
  temporalMs: number;
}

/** Time until all waiters are answered whose operations end at once, and the same for Temporal's own client. */
async function burst(stack: Stack, temporal: Client, round: number): Promise<Burst> {
  await timeRuns(BURST, 16, () => stack.client.start('await_signal'));
  const bareIds = await openWaits(temporal, BURST);
  const results = bareIds.map((id) => temporal.workflow.getHandle(id).result());
  await sleep(5_000);
  const temporalMs = await endAll(temporal, bareIds, results);
  const waiting = await startWaiters(stack, BURST, `burst-${round}`);
  const ids = await openWaits(temporal, BURST);
  await sleep(5_000);
  return { temporalMs, longhaulMs: await endAll(temporal, ids, waiting) };
}

async function delaysOfChannels(stack: Stack, temporal: Client): Promise<Delays[]> {
  const measured: Delays[] = [];
  const measure = async (kind: 'change' | 'end', open: (onText: OnText) => ReturnType<typeof twoStage>) => {
    const delays = await channelDelays(kind, kind === 'change' ? CHANGES : ENDS, temporal, open);
    measured.push(delays);
    console.error(`${delays.name}: done`);
  };
  const channels = {
    temporal: async (onText: OnText) => temporalClient(temporal, stack, onText),
    subscription: async (onText: OnText) => subscription(stack, onText),
    olderTasks: (onText: OnText) => olderTasks(stack, onText),
    operationTokens: (onText: OnText) => operationTokens(stack, onText),
    twoStage: (onText: OnText) => twoStage(stack, onText),
    jobEvents: async (onText: OnText) => jobEvents(stack, onText),
    plainWait: async (onText: OnText) => plainWait(stack, onText),
  };
  const { plainWait: _noChanges, ...ofChanges } = channels;
  const { operationTokens: _noEnds, ...ofEnds } = channels;
  for (const open of Object.values(ofChanges)) await measure('change', open);
  for (const open of Object.values(ofEnds)) await measure('end', open);
  return measured;
}

/** A thousand clients that each wait in one call. */
async function waiters(stack: Stack, temporal: Client): Promise<Waiting & { events: [number, number] }> {
  const waiting = await startWaiters(stack, WAITERS, 'waiters');
  const ids = await openWaits(temporal, WAITERS);
  const before = await settledEvents(temporal, ids);
  const measured = await whileWaiting(stack, `${WAITERS} clients wait, each in one call`, WAIT_MS);
  const after = await settledEvents(temporal, ids);
  await Promise.all([endGently(temporal, ids), ...waiting]);
  return { ...measured, events: [before, after] };
}

/** A thousand operations on a few subscriptions. */
async function watched(stack: Stack, temporal: Client): Promise<Waiting> {
  const { client } = stack;
  const taskIds: string[] = [];
  await timeRuns(WAITERS, 16, async () => taskIds.push(await client.start('await_signal')));
  const streams = [];
  for (let from = 0; from < WAITERS; from += TASKS_OF_A_STREAM)
    streams.push(await client.listen({ taskIds: taskIds.slice(from, from + TASKS_OF_A_STREAM) }));
  await sleep(WAIT_MS / 4);
  const name = `${WAITERS} operations are watched on ${streams.length} subscriptions`;
  const measured = await whileWaiting(stack, name, WAIT_MS);
  for (const stream of streams) stream.close();
  await endGently(temporal, taskIds);
  return measured;
}

/** A thousand agents wait; then messages to them, one after another. */
async function agents(stack: Stack, temporal: Client): Promise<{ waiting: Waiting; delays: Delays }> {
  const arrivals = new Arrivals();
  const started = await startAgents(stack.client, temporal, WAITERS, arrivals.onText);
  try {
    await sleep(WAIT_MS / 4);
    const waiting = await whileWaiting(stack, `${WAITERS} agents wait for messages`, WAIT_MS);
    await paced(CHANGES, async (number) => {
      const mark = `tick-${number}-`;
      await arrivals.expect(mark, [mark], () => started.send(number % WAITERS, mark));
    });
    const name = `mailbox, wait of one of ${WAITERS} agents: message`;
    return { waiting, delays: await arrivals.delays(name, temporal, await started.inboxes()) };
  } finally {
    started.stop();
  }
}

await withStack(
  async (stack) => {
    const connection = await NativeConnection.connect({ address: stack.temporalAddress });
    const temporal = new Client({ connection });
    // Warm-up: code is slow in its first runs.
    await channelDelays('change', shortened(200), temporal, (onText) => subscription(stack, onText));
    const waiting: Waiting[] = [await whileWaiting(stack, 'idle', WAIT_MS / 4)];
    const delays = await delaysOfChannels(stack, temporal);
    const bursts: Burst[] = [];
    for (let round = 0; round < BURSTS; round++) bursts.push(await burst(stack, temporal, round));
    console.error('bursts: done');
    const waiter = await waiters(stack, temporal);
    waiting.push(waiter, await watched(stack, temporal));
    console.error('waiters: done');
    const mailbox = await agents(stack, temporal);
    delays.push(mailbox.delays);
    waiting.push(mailbox.waiting);
    await connection.close();

    const ms = (value: number) => `${value.toFixed(0)} ms`;
    const rows = delays.map(({ name, count, p50Ms, p99Ms, maxMs }) => [
      name,
      String(count),
      ms(p50Ms),
      ms(p99Ms),
      ms(maxMs),
    ]);
    report('pushes', ['from the event to the client', 'changes', 'p50', 'p99', 'latest'], rows, {
      delays,
      bursts,
      waiting,
    });
    console.log();
    printTable(
      [`${BURST} operations end at once`, 'Longhaul', "Temporal's own client", 'difference'],
      bursts.map(({ longhaulMs, temporalMs }, round) => [
        `until all waiters are answered, round ${round + 1}`,
        ms(longhaulMs),
        ms(temporalMs),
        ms(longhaulMs - temporalMs),
      ]),
    );
    console.log();
    const cells = (values: Record<string, number>, unit: string, factor = 1) =>
      Object.entries(values).map(([part, value]) => `${part} ${(value * factor).toFixed(0)}${unit}`);
    printTable(
      ['', 'resident, MB', 'CPU, share of a core'],
      waiting.map(({ name, memoryMb, cpuShare }) => [
        name,
        cells(memoryMb, '').join(', '),
        cells(cpuShare, ' %', 100).join(', '),
      ]),
    );
    console.log(`\nHistory events of the waiters, before and after: ${waiter.events.join(', ')}`);
  },
  { LONGHAUL_MAILBOX: '1', LONGHAUL_STATUS_PER_MINUTE: '100000' },
);
