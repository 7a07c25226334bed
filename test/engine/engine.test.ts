import { expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Engine, TemporalClient, type WatchedRecord } from '../../engine/index.js';
import { defineTool } from '../../operations/tool/index.js';
import { createLogger } from '../../platform/observe/log.js';
import { loadSecret } from '../../platform/home/secret.js';
import { openStorage } from '../../platform/storage/index.js';
import { Tools } from '../../platform/project/tools.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { afterAllTests, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const input = { type: 'object', properties: { seconds: { type: 'number' }, label: { type: 'string' } } };
const toolOf = (name: string) =>
  defineTool({
    name,
    description: { does: name },
    input: name === 'slow_compute' ? input : { type: 'object', properties: {}, additionalProperties: true },
    estimate: { seconds: 7 },
  });
const slowCompute = toolOf('slow_compute');
const confirmDelete = toolOf('confirm_delete');

const secret = loadSecret(process.env['LONGHAUL_HOME']!);
const tools = [slowCompute, confirmDelete];
const parts = await forAllTests(TestStack.shared());
const engine = await inSetUp(connectEngine(parts.taskQueue, { tools }));
const { temporal } = engine;
afterAllTests(() => engine.temporal.close());

const ANNA = `anna-${randomUUID()}`;
const BEN = `ben-${randomUUID()}`;

test('a repeated start describes the workflow once', async () => {
  const options = { idempotencyKey: randomUUID() };
  const { token } = await engine.start(ANNA, slowCompute, { seconds: 600 }, options);
  const described = jest.spyOn(engine.temporal.client.workflow, 'getHandle');
  try {
    expect((await engine.start(ANNA, slowCompute, { seconds: 600 }, options)).token).toBe(token);
    expect(described).toHaveBeenCalledTimes(1);
  } finally {
    described.mockRestore();
  }
  await engine.cancel(ANNA, token);
});

test('a repeated start of what has expired is refused', async () => {
  const options = { idempotencyKey: randomUUID(), keepAliveSeconds: 1 };
  const { token } = await engine.start(ANNA, slowCompute, { seconds: 0 }, options);
  await eventually('it has expired', async () => (await engine.read(ANNA, token)).status === 'expired');
  await expect(engine.start(ANNA, slowCompute, { seconds: 0 }, options)).rejects.toMatchObject({
    kind: 'expired',
    message: expect.stringContaining('choose a new one'),
  });
});

test('keepAlive is bounded by what Temporal keeps; afterwards the operation has expired', async () => {
  const { retentionSeconds } = await engine.temporal.facts();
  expect(retentionSeconds).toBe(72 * 3600);
  const start = (keepAliveSeconds: number | null) =>
    engine.start(ANNA, slowCompute, { seconds: 0 }, { keepAliveSeconds });
  expect((await start(null)).keepAliveSeconds).toBe(retentionSeconds);
  expect((await start(10 * retentionSeconds)).keepAliveSeconds).toBe(retentionSeconds);
  const { token } = await start(1);
  await eventually('it has expired', async () => (await engine.read(ANNA, token)).status === 'expired');
  expect(await engine.read(ANNA, token)).not.toHaveProperty('result');
});

test('a watch gives each state once, shares one poll, and ends with the operation', async () => {
  const { token } = await engine.start(ANNA, confirmDelete, { filename: 'watched' });
  const watch = async () => {
    const states: string[] = [];
    for await (const { status } of engine.watch(ANNA, token, { signal: AbortSignal.timeout(30_000) }))
      states.push(status);
    return states.filter((status, index) => status !== states[index - 1]);
  };
  const watches = [watch(), watch(), watch()];
  const asked = await eventually(
    'it asks',
    async () => Object.keys((await engine.read(ANNA, token)).inputRequests)[0],
  );
  const given = { action: 'accept', content: { confirm: true } } as const;
  expect(await engine.answer(ANNA, token, asked, given)).toMatchObject({ state: 'accepted' });
  for (const states of await Promise.all(watches)) {
    expect(states.at(-1)).toBe('completed');
    expect(states).toContain('input_required');
  }
  await expect(engine.answer(ANNA, token, asked, { action: 'decline' })).rejects.toMatchObject({
    kind: 'wrong_state',
  });
});

test('watchers that look at the same moment share one read', async () => {
  const { token } = await engine.start(ANNA, slowCompute, { seconds: 600 });
  const end = new AbortController();
  const watchers = Array.from({ length: 8 }, async () => {
    const watched = engine.watch(ANNA, token, { signal: end.signal, progress: true });
    let latest: WatchedRecord | undefined;
    for await (latest of watched);
    return latest;
  });
  await eventually('it runs', async () => (await engine.read(ANNA, token)).status === 'working');
  const described = jest.spyOn(temporal, 'describe');
  try {
    const times: number[] = [];
    const bursts = () => times.filter((at, index) => at - (times[index - 1] ?? -Infinity) > 1_000).length;
    described.mockImplementation((...args) => {
      times.push(performance.now());
      return TemporalClient.prototype.describe.apply(temporal, args);
    });
    await eventually('they have looked three times', () => bursts() >= 4);
    expect(times.length).toBeLessThan(3 * bursts());
  } finally {
    described.mockRestore();
    end.abort();
  }
  for (const latest of await Promise.all(watchers)) expect(latest).toMatchObject({ status: 'working' });
  await engine.cancel(ANNA, token);
});

test('readers at the same moment share reads: one that is running, and one for all who came later', async () => {
  const { token } = await engine.start(ANNA, slowCompute, { seconds: 600 });
  await eventually('it runs', async () => (await engine.read(ANNA, token)).status === 'working');
  const described = jest.spyOn(temporal, 'describe');
  try {
    const records = await Promise.all(Array.from({ length: 50 }, () => engine.read(ANNA, token)));
    expect(new Set(records.map(({ status }) => status))).toEqual(new Set(['working']));
    expect(described).toHaveBeenCalledTimes(2);
    await expect(engine.read(BEN, token)).rejects.toMatchObject({ kind: 'not_found' });
  } finally {
    described.mockRestore();
  }
  await engine.cancel(ANNA, token);
});

test('a read shows what was accepted before it, while others read all the time', async () => {
  const { token } = await engine.start(ANNA, confirmDelete, { filename: 'read' });
  let isOver = false;
  const readers = Array.from({ length: 8 }, async () => {
    while (!isOver) await engine.read(ANNA, token);
  });
  const asked = await eventually(
    'it asks',
    async () => Object.keys((await engine.read(ANNA, token)).inputRequests)[0],
  );
  await engine.answer(ANNA, token, asked, { action: 'accept', content: { confirm: true } });
  expect((await engine.read(ANNA, token)).inputRequests).toEqual({});
  isOver = true;
  await Promise.all(readers);

  const other = await engine.start(ANNA, slowCompute, { seconds: 600 });
  isOver = false;
  const others = Array.from({ length: 8 }, async () => {
    while (!isOver) await engine.read(ANNA, other.token);
  });
  await engine.cancel(ANNA, other.token);
  expect(await engine.read(ANNA, other.token)).toHaveProperty('cancelRequestedAt');
  isOver = true;
  await Promise.all(others);
});

test('engines of one process share no records, even over one connection', async () => {
  const { token } = await engine.start(ANNA, slowCompute, { seconds: 0 });
  const same = new Tools(new Map(tools.map((tool) => [tool.name, tool])), [], createLogger('test', 'warn'));
  const other = new Engine(temporal, same, secret, openStorage({ home: process.env['LONGHAUL_HOME']! }));
  await eventually('it is over', async () => (await engine.read(ANNA, token)).status === 'completed');
  const kept = await engine.read(ANNA, token);
  expect(await engine.read(ANNA, token)).toBe(kept);
  const read = await other.read(ANNA, token);
  expect(read).not.toBe(kept);
  expect(read).toEqual(kept);
});
