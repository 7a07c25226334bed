/**
 * Cost of metrics: two stacks at the same time, one with metrics, take turns at the same requests. Compare the columns.
 *
 *     node --import jiti/register bench/metrics.ts [--short]
 */
import { freePort } from '../test/stack/cli-process.js';
import {
  cpuMs,
  measure,
  quantile,
  report,
  residentMb,
  shortened,
  timeRuns,
  withStack,
  type Stack,
} from './support.js';

const ROUNDS = 4;
const POLLS = shortened(400);
const OPERATIONS = shortened(60);
const SCRAPES = shortened(100);
const AT_ONCE = 8;

interface Side {
  pollMs: number[];
  operationMs: number[];
  workerMs: number[];
}

async function round({ client, home, serverPid }: Stack, side: Side): Promise<void> {
  const { worker } = home.parts();
  const started = await client.request('tools/call', { name: 'noop_activity', arguments: {} });
  const { taskId } = started.result as { taskId: string };
  const polls = await measure(POLLS, AT_ONCE, serverPid, () => client.request('tasks/get', { taskId }));
  side.pollMs.push(polls.cpuMs);
  const before = cpuMs(worker);
  const operations = await measure(OPERATIONS, AT_ONCE, serverPid, () =>
    client.request('tools/call', { name: 'noop_activity', arguments: {} }),
  );
  side.operationMs.push(operations.cpuMs);
  side.workerMs.push((cpuMs(worker) - before) / OPERATIONS);
}

await withStack(async (off) => {
  const port = await freePort();
  // The worker has the next one.
  await freePort();
  await withStack(
    async (on) => {
      const sides = [off, on].map((stack) => ({
        stack,
        side: { pollMs: [], operationMs: [], workerMs: [] },
      }));
      const scrape = (address: number) =>
        fetch(`http://127.0.0.1:${address}/metrics`).then((page) => page.text());
      const timer = setInterval(() => void Promise.allSettled([scrape(port), scrape(port + 1)]), 15_000);
      // The first round warms up.
      for (let at = 0; at <= ROUNDS; at += 1) {
        for (const { stack, side } of at % 2 ? sides : [...sides].reverse()) await round(stack, side);
        if (at === 0)
          for (const { side } of sides)
            for (const values of Object.values(side) as number[][]) values.length = 0;
      }
      clearInterval(timer);
      const memory = sides.map(({ stack }) => [
        residentMb(stack.serverPid),
        residentMb(stack.home.parts().worker),
      ]);
      const scrapes = await timeRuns(SCRAPES, 1, () => scrape(port));
      const median = (pick: (side: Side) => number[]) => sides.map(({ side }) => quantile(pick(side), 0.5));
      const rows: [string, number[], number][] = [
        ["tasks/get, server's CPU in ms", median(({ pollMs }) => pollMs), 3],
        ["tools/call, server's CPU in ms", median(({ operationMs }) => operationMs), 2],
        ["a start, worker's CPU in ms meanwhile", median(({ workerMs }) => workerMs), 1],
        ["server's memory in MB", memory.map(([server]) => server!), 0],
        ["worker's memory in MB", memory.map(([, worker]) => worker!), 0],
      ];
      report(
        'metrics',
        ['', 'metrics off', 'metrics on', 'ratio'],
        [
          ...rows.map(([what, [a, b], digits]) => [
            what,
            a!.toFixed(digits),
            b!.toFixed(digits),
            (b! / a!).toFixed(2),
          ]),
          [
            'one scrape of the server, p50 and p99 in ms',
            '',
            `${quantile(scrapes.tookMs, 0.5).toFixed(1)}, ${quantile(scrapes.tookMs, 0.99).toFixed(1)}`,
            '',
          ],
        ],
        { rows, scrapeMs: scrapes.tookMs },
      );
    },
    { LONGHAUL_HEALTH_ADDRESS: `127.0.0.1:${port}` },
  );
});
