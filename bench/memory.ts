/**
 * Memory of the MCP server: its resident set after the start, after calls, and with a thousand watched operations. The bound
 * applies to the idle server.
 *
 *     node --import jiti/register bench/memory.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, measure, printTable, residentMb, withStack } from './support.js';

const BOUND_MB = 220;
const CALLS = 200;
const WATCHED = 1_000;
const PER_STREAM = 100;
/** Time over which CPU is measured while operations are watched, in milliseconds. */
const WATCH_MS = 10_000;

await withStack(async ({ client, serverPid }) => {
  const rows: string[][] = [];
  const note = (what: string, bound?: number) => {
    const mb = residentMb(serverPid);
    const verdict = bound === undefined ? '' : mb < bound ? `under ${bound} MB` : `OVER ${bound} MB`;
    if (bound !== undefined && mb >= bound) process.exitCode = 1;
    rows.push([what, `${mb.toFixed(0)} MB`, verdict]);
  };
  await sleep(3_000);
  note('idle, after its start', BOUND_MB);

  await measure(CALLS, 8, serverPid, async () => {
    const taskId = await client.start('noop');
    await client.until(taskId, 'completed');
  });
  await sleep(5_000);
  note(`idle, after ${CALLS} calls with their results`, BOUND_MB);

  const taskIds: string[] = [];
  await measure(WATCHED, 16, serverPid, async () => taskIds.push(await client.start('sleeper')));
  note(`${WATCHED} operations started and running`);

  const streams = [];
  for (let from = 0; from < WATCHED; from += PER_STREAM)
    streams.push(await client.listen({ taskIds: taskIds.slice(from, from + PER_STREAM) }));
  await sleep(10_000);
  const cpu = cpuMs(serverPid);
  await sleep(WATCH_MS);
  const share = Math.round(((cpuMs(serverPid) - cpu) / WATCH_MS) * 100);
  note(`${WATCHED} of them watched on ${streams.length} streams, at ${share} % of a core`);
  for (const stream of streams) stream.close();
  await sleep(5_000);
  note('no longer watched');
  printTable(['MCP server', 'resident set', 'bound when idle'], rows);
});
