import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Engine, TemporalClient, type WatchedRecord } from '../../engine/index.js';
import { digestOf, tokenOfIdempotencyKey, workflowIdOf } from '../../operations/token.js';
import { defineTool } from '../../operations/tool/index.js';
import { createLogger } from '../../platform/observe/log.js';
import { loadSecret } from '../../platform/home/secret.js';
import { openStorage } from '../../platform/storage/index.js';
import { Tools } from '../../platform/project/tools.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);
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
const largeValues = toolOf('large_values');

let parts: TestStack;
let engine: Engine;
let temporal: TemporalClient;
const secret = loadSecret(process.env['LONGHAUL_HOME']!);
const tools = [slowCompute, confirmDelete, largeValues];
beforeAll(async () => {
  parts = await TestStack.shared();
  engine = await connectEngine(parts.taskQueue, { tools });
  ({ temporal } = engine);
});
afterAll(async () => {
  await engine?.temporal.close();
  await parts?.stop();
});

const ANNA = `anna-${randomUUID()}`;
const BEN = `ben-${randomUUID()}`;

test('tokens that callers bring are unique within the principal, and checked', async () => {
    const token = `mine-${randomUUID()}`;
    const [ofAnna, ofBen] = await Promise.all(
      [ANNA, BEN].map((who) => engine.start(who, slowCompute, { seconds: 0 }, { token })),
    );
    expect([ofAnna!.token, ofBen!.token]).toEqual([token, token]);
    expect(workflowIdOf(ANNA, token, secret)).not.toBe(workflowIdOf(BEN, token, secret));
    expect(workflowIdOf('anonymous', token, secret)).toBe(token);
    await expect(engine.start(ANNA, slowCompute, {}, { token: 'a b' })).rejects.toThrow(
      'expected 1 to 232 characters',
    );
  });

describe('a repeated start', () => {
  test('under the same key, twenty at once, is one operation; with other arguments it is refused', async () => {
    const options = { idempotencyKey: randomUUID() };
    const started = await Promise.all(
      Array.from({ length: 20 }, () => engine.start(ANNA, slowCompute, { seconds: 1, label: 'x' }, options)),
    );
    expect(new Set(started.map(({ token }) => token)).size).toBe(1);
    expect(started[0]!.token).toBe(
      tokenOfIdempotencyKey(ANNA, 'slow_compute', options.idempotencyKey, secret),
    );
    await expect(engine.start(ANNA, slowCompute, { seconds: 2 }, options)).rejects.toMatchObject({
      kind: 'conflict',
    });
    const same = await engine.start(ANNA, slowCompute, { label: 'x', seconds: 1 }, options);
    expect(same.token).toBe(started[0]!.token);
    expect(digestOf('t', { a: 1, b: { c: 2, d: 3 } }, secret)).toBe(
      digestOf('t', { b: { d: 3, c: 2 }, a: 1 }, secret),
    );
  });

  test('finds the operation also after it has closed', async () => {
    const options = { idempotencyKey: randomUUID() };
    const { token } = await engine.start(ANNA, slowCompute, { seconds: 0 }, options);
    await eventually('it is completed', async () => (await engine.read(ANNA, token)).status === 'completed');
    expect(await engine.start(ANNA, slowCompute, { seconds: 0 }, options)).toMatchObject({
      token,
      status: 'completed',
    });
  });
});

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

test('the query has the whole record live, and falls back to what is kept when no worker answers', async () => {
  const { token } = await engine.start(ANNA, largeValues, { partialBytes: 100_000, thenWaitSeconds: 600 });
  const live = await eventually('a worker answers', async () => {
    const record = await engine.readLive(ANNA, token);
    return record.live && record.partial ? record : undefined;
  });
  expect((live.partial as { text: string }).text).toHaveLength(100_000);
  expect((await engine.read(ANNA, token)).partial).toBeUndefined();
  await engine.cancel(ANNA, token, 'done looking');
  const end = await eventually('it is canceled', async () => {
    const record = await engine.read(ANNA, token);
    return record.status === 'canceled' ? record : undefined;
  });
  expect(end).toMatchObject({ cancelReason: 'done looking', statusMessage: 'canceled: done looking' });
  expect((end.partial as { text: string }).text).toHaveLength(100_000);
});

test("lists hold the principal's operations, by tool, status and key, page by page", async () => {
  const who = `lister-${randomUUID()}`;
  const idempotencyKey = randomUUID();
  await engine.start(who, slowCompute, { seconds: 0 }, { session: 's1' });
  await engine.start(who, slowCompute, { seconds: 0 }, { idempotencyKey });
  await engine.start(who, confirmDelete, {});
  const statuses = async () =>
    (await engine.list(who)).operations.map(({ tool, status }) => `${tool} ${status}`).sort();
  const wanted = ['confirm_delete input_required', 'slow_compute completed', 'slow_compute completed'];
  await eventually(
    'the lists have caught up',
    async () => JSON.stringify(await statuses()) === JSON.stringify(wanted),
  );
  expect((await engine.list(who, { tool: 'confirm_delete' })).operations).toHaveLength(1);
  expect((await engine.list(who, { status: 'completed' })).operations).toHaveLength(2);
  expect((await engine.list(who, { status: 'input_required' })).operations).toHaveLength(1);
  expect((await engine.list(who, { session: 's1' })).operations).toHaveLength(1);
  const [byKey] = (await engine.list(who, { idempotencyKey })).operations;
  expect(byKey!.token).toBe(tokenOfIdempotencyKey(who, 'slow_compute', idempotencyKey, secret));
  expect((await engine.list(`nobody' OR '1'='1`)).operations).toEqual([]);
  const page = await engine.list(who, { limit: 2 });
  const rest = await engine.list(who, { limit: 2, cursor: page.nextCursor! });
  expect([page.operations.length, rest.operations.length]).toEqual([2, 1]);
});
