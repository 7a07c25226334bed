/**
 * Soak: a steady mixed load for half an hour; the memory of all processes each minute, and its slope after the first fifth.
 *
 *     node --import jiti/register bench/soak.ts [--minutes 30]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { jobEvents, subscription } from './pushes/channels.js';
import { endAll, openWaits, startWaiters } from './pushes/waiting.js';
import { PARTS, sample, type Sample } from './scale/phases.js';
import { taskCalls } from './sides.js';
import { cpuMs, report, timeRuns, withStack, type Stack } from './support.js';

const { values: given } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, short: { type: 'boolean' } },
});
const MINUTES = given.short ? 1 : Number(given.minutes);
/** Operations that are open from the beginning to the end, and read at random. */
const STANDING = 200;
const WAITERS = 20;
/** Time between a question and its answer, in milliseconds. */
const ANSWER_DELAY_MS = 10_000;
/** Memory is compared once this share of the time has passed. */
const WARM_UP_SHARE = 0.2;
const SAMPLES_AT_LEAST = 12;

/** Actions of the load, and how often each begins, in milliseconds. */
function load(
  stack: Stack,
  temporal: Client,
  standing: string[],
): [name: string, everyMs: number, () => Promise<unknown>][] {
  const { client, home } = stack;
  const random = () => standing[Math.floor(Math.random() * standing.length)]!;
  const { run } = taskCalls(client);
  let rounds = 0;
  const followed = async (open: typeof subscription) => {
    let arrived: () => void;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const channel = open(stack, (text) => text.includes('"over"') && arrived());
    const token = await channel.start();
    await sleep(ANSWER_DELAY_MS);
    await temporal.workflow.getHandle(token).signal('end', 'over');
    await arrival;
    await channel.close();
  };
  return [
    ['an activity, to its end', 500, () => run('noop_activity')],
    [
      'a question and its answer',
      1_000,
      async () => {
        const taskId = await client.start('asker');
        await sleep(ANSWER_DELAY_MS);
        await client.answer(taskId, 'input-1', { action: 'accept', content: { proceed: true } });
        await client.until(taskId, 'completed');
      },
    ],
    ['tasks/get', 100, () => client.get(random())],
    ['GET /v1/jobs/ID', 500, async () => (await fetch(`${home.url}/v1/jobs/${random()}`)).text()],
    ['a subscription', 2_000, () => followed(subscription)],
    ['events of a job', 2_000, () => followed(jobEvents)],
    [
      `${WAITERS} waiters, answered at once`,
      30_000,
      async () => {
        const waiting = await startWaiters(stack, WAITERS, `soak-${rounds++}`);
        await endAll(temporal, await openWaits(temporal, WAITERS), waiting);
      },
    ],
  ];
}

/** Slope of a line through points, by least squares. */
function slope(points: [x: number, y: number][]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([at]) => at));
  const y = mean(points.map(([, value]) => value));
  const covariance = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0);
  return covariance / points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
}

await withStack(
  async (stack) => {
    const connection = await NativeConnection.connect({ address: stack.temporalAddress });
    const temporal = new Client({ connection });
    const standing: string[] = [];
    await timeRuns(STANDING, 16, async () => standing.push(await stack.client.start('asker')));

    const endMs = Date.now() + MINUTES * 60_000;
    const counts: Record<string, { done: number; failed: number }> = {};
    const loops = load(stack, temporal, standing).map(async ([name, everyMs, act]) => {
      const count = (counts[name] = { done: 0, failed: 0 });
      const running = new Set<Promise<unknown>>();
      while (Date.now() < endMs) {
        const one: Promise<unknown> = act().then(
          () => (count.done += 1),
          (error: unknown) => {
            count.failed += 1;
            console.error(`${name}: ${String(error)}`);
          },
        );
        running.add(one);
        void one.finally(() => running.delete(one));
        await sleep(everyMs);
        // A load that the machine can't bear is not steady: wait instead of queueing.
        while (running.size >= 64) await Promise.race(running);
      }
      await Promise.all(running);
    });
    const samples: (Sample & { minute: number })[] = [];
    const pids = Object.entries(stack.home.parts());
    const cpu = pids.map(([, pid]) => cpuMs(pid));
    const startMs = Date.now();
    const intervalMs = Math.min(60_000, (MINUTES * 60_000) / SAMPLES_AT_LEAST);
    while (Date.now() < endMs) {
      const minute = (Date.now() - startMs) / 60_000;
      samples.push({ minute, ...sample(stack, `minute ${minute.toFixed(1)}`) });
      console.error(JSON.stringify(samples.at(-1)));
      await sleep(intervalMs);
    }
    const elapsedMs = Date.now() - startMs;
    const cpuShare = Object.fromEntries(
      pids.map(([part, pid], at) => [part, (cpuMs(pid) - cpu[at]!) / elapsedMs]),
    );
    await Promise.all(loops);
    await connection.close();

    const steady = samples.filter(({ minute }) => minute >= MINUTES * WARM_UP_SHARE);
    const rows = [...PARTS, 'database' as const].map((name) => {
      const valueOf = (one: Sample) => (name === 'database' ? one.databaseMb : one.memoryMb[name]);
      const values = steady.map(valueOf);
      const perHour = slope(steady.map((one) => [one.minute / 60, valueOf(one)]));
      return [
        name,
        String(valueOf(samples[0]!)),
        String(values[0]),
        String(values.at(-1)),
        String(Math.max(...values)),
        `${perHour.toFixed(1)} MB an hour`,
        name in cpuShare ? `${(cpuShare[name]! * 100).toFixed(0)} % of a core` : '',
      ];
    });
    report(
      'soak',
      ['MB', 'first', `after ${WARM_UP_SHARE * 100} %`, 'last', 'highest', 'slope', 'CPU'],
      rows,
      { minutes: MINUTES, samples, counts, cpuShare },
    );
    console.log(`\nLoad: ${JSON.stringify(counts)}`);
    if (Object.values(counts).some(({ failed }) => failed > 0)) process.exitCode = 1;
  },
  { LONGHAUL_STATUS_PER_MINUTE: '100000' },
);
