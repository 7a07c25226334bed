/** Clocks that are seconds or hours off: the server's, the worker's or Temporal's. Times, estimates, keepAlive and messages stay right. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Clock } from '../chaos/faults/clock.js';
import { Caller } from '../operation-tools/support.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const HOURS_3 = 3 * 3_600;
const OFFSETS = [-HOURS_3, HOURS_3];
/** Offsets that no check for a wrong clock notices. */
const SMALL_OFFSETS = [-2, 2];
/** By how much a time may be wrong, in milliseconds: less than the least offset. */
const TOLERANCE_MS = 1_500;
/** How long results are kept, in milliseconds. */
const KEEP_ALIVE_MS = 5_000;
/** Duration of the work that is timed, in seconds. */
const WORK_SECONDS = 1;

/** Operations of {@link WORK_SECONDS}. */
const timed: string[] = [];
const folder = temporaryFolder('clock-offsets');
const clocks = {
  server: await Clock.create(join(folder, 'server')),
  worker: await Clock.create(join(folder, 'worker')),
};
// Both have heard nothing of Temporal yet.
clocks.server.jump(HOURS_3);
clocks.worker.jump(-HOURS_3);
const workerHealth = `127.0.0.1:${await freePort()}`;
// Own stack: its clocks are wrong.
const parts = await forAllTests(
  TestStack.serverAlone({ ...clocks.server.environment, LONGHAUL_MAILBOX: '1' }),
);
parts.worker({ ...clocks.worker.environment, LONGHAUL_HEALTH_ADDRESS: workerHealth });
await inSetUp(parts.ready());
const legacy = await inSetUp(LegacyClient.open(`${parts.base}/mcp`));

/** Whether a process has a clock that is that many seconds off, by the dates of its answers. */
async function isOff(url: string, seconds: number): Promise<boolean> {
  const { headers } = await fetch(`${url}/healthz`);
  // The date has whole seconds.
  const offMs = Date.parse(headers.get('date')!) + 500 - Date.now();
  return Math.abs(offMs - seconds * 1_000) < 1_000;
}

async function setClocks(seconds: { server: number; worker: number }): Promise<void> {
  clocks.server.jump(seconds.server);
  clocks.worker.jump(seconds.worker);
  await eventually('both processes have these clocks', async () => {
    const set = [isOff(parts.base, seconds.server), isOff(`http://${workerHealth}`, seconds.worker)];
    return (await Promise.all(set)).every(Boolean);
  });
}

/** Expects a time of Temporal, whose clock is the test's, to be in a period. */
function expectWithin(time: string, fromMs: number, toMs: number): void {
  const ms = Date.parse(time);
  const isWithin = ms >= fromMs - TOLERANCE_MS && ms <= toMs + TOLERANCE_MS;
  const [from, to] = [fromMs, toMs].map((each) => new Date(each).toISOString());
  expect({ time, from, to, isWithin }).toEqual({ time, from, to, isWithin: true });
}

async function timesAreRight(): Promise<void> {
  const fromMs = Date.now();
  const { result: started } = await parts.client.call('slow_compute', { seconds: WORK_SECONDS });
  expectWithin(started.createdAt, fromMs, Date.now());
  const updates: string[] = [started.createdAt, started.lastUpdatedAt];
  const done = await parts.client.until(started.taskId, (task) => {
    updates.push(task.lastUpdatedAt);
    return task.status === 'completed';
  });
  expect(done.createdAt).toBe(started.createdAt);
  expect(updates).toEqual(updates.toSorted());
  expectWithin(done.lastUpdatedAt, fromMs + WORK_SECONDS * 1_000, Date.now());
  timed.push(started.taskId);
}

async function resultsAreKept(): Promise<void> {
  const { taskId } = await legacy.task('slow_compute', { seconds: 0 }, { ttl: KEEP_ALIVE_MS });
  const { lastUpdatedAt } = await parts.client.until(taskId, 'completed');
  await eventually('its result has expired', async () => {
    const { error } = await parts.client.request('tasks/get', { taskId });
    return error?.message.includes('expired');
  });
  expect(Date.now() - Date.parse(lastUpdatedAt)).toBeGreaterThanOrEqual(KEEP_ALIVE_MS);
}

async function messagesAreDelivered(): Promise<void> {
  const name = `agent-${randomUUID()}`;
  const call = async (tool: string, args: object): Promise<any> => {
    const { result } = await parts.client.with({}).call(tool, args);
    return JSON.parse(result.content[0].text);
  };
  const short = await call('send_message', { to: name, content: 'short', ttl_seconds: 1 });
  const sentMs = Date.now();
  await call('send_message', { to: name, content: 'long', ttl_seconds: 60 });
  await call('send_message', { capability: name, content: 'for anyone', ttl_seconds: 60 });
  await eventually('the first one has expired', () => Date.now() - sentMs > 1_200);
  const received = await call('register_and_wait', {
    agent_name: name,
    agent_type: 'test',
    capabilities: [name],
    timeout_seconds: 30,
  });
  expect(received).toMatchObject({ m: 'long' });
  expect(await call('check_replies', { message_id: short.id })).toMatchObject({
    state: { [name]: 'expired' },
  });
  const { agents } = await call('check_status', { limit: 100 });
  const agent = agents.find((one: any) => one.name === name);
  expect(agent).toMatchObject({ state: 'busy', queued: 0 });
  expectWithin(agent.seen, sentMs, Date.now());
  const { agent_id, id: ack } = received;
  expect(await call('wait', { agent_id, ack, timeout_seconds: 30 })).toMatchObject({ m: 'for anyone' });
}

// Temporal is a Go program: its clock can't be set. One that is ahead is a server and a worker that are behind.
test.each([
  ...OFFSETS.map((seconds) => ({ whose: "the server's", seconds, server: seconds, worker: 0 })),
  ...OFFSETS.map((seconds) => ({ whose: "the worker's", seconds, server: 0, worker: seconds })),
  ...[...OFFSETS, ...SMALL_OFFSETS].map((seconds) => ({
    whose: "Temporal's",
    seconds,
    server: -seconds,
    worker: -seconds,
  })),
])(
  'with $whose clock off by $seconds s, times are right, results are kept and messages delivered',
  async ({ server, worker }) => {
    await setClocks({ server, worker });
    await Promise.all([timesAreRight(), resultsAreKept(), messagesAreDelivered()]);
  },
);

test('none of these operations counts as shorter or longer than it took, in lists and estimates', async () => {
  const caller = new Caller(parts.client);
  const rows = await eventually('they are listed', async () => {
    const { operations } = await caller.get('operation_list', { tool: 'slow_compute', limit: 100 });
    const own = operations.filter(({ token, closed_at }: any) => closed_at && timed.includes(token));
    return own.length === timed.length ? (own as any[]) : undefined;
  });
  const wrong = rows.filter(({ created_at, closed_at, worked_seconds: worked }) => {
    const wholeSeconds = (Date.parse(closed_at) - Date.parse(created_at)) / 1_000;
    return !(worked >= WORK_SECONDS && worked <= wholeSeconds);
  });
  expect(wrong).toEqual([]);
  const longest = Math.max(...rows.map(({ worked_seconds: worked }) => worked));
  const fixed = 1 + WORK_SECONDS;
  await eventually('the estimate is made from past runs', async () => {
    const { result } = await caller.client.call('slow_compute', { seconds: WORK_SECONDS, wait: false });
    const { estimate_seconds: estimate } = result.structuredContent;
    return estimate !== fixed && estimate >= WORK_SECONDS && estimate <= longest;
  });
});
