/** Numbers that a double can't hold: refused with their path, over every protocol, instead of being rounded. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, afterEach, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { protocolClients, type ProtocolClient } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';

let parts: TestStack;
let protocols: ProtocolClient[];
beforeAll(async () => {
  parts = await TestStack.shared();
  protocols = protocolClients(parts.base);
});
afterAll(() => parts?.stop());

const BIG = '9007199254740993';
const REFUSED = `expected a number that keeps its digits (integers up to 9007199254740991); got `;

/** A number that JSON.stringify can't write. */
const number = (digits: string) => `#${digits}#`;
beforeEach(() => {
  const { fetch } = globalThis;
  jest.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const { body } = init ?? {};
    return fetch(
      input,
      typeof body === 'string' ? { ...init, body: body.replace(/"#([^"#]+)#"/g, '$1') } : init,
    );
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});

const NAMES = [
  ...['2026-07-28 tasks', '2025-11-25 tasks', '2026-07-28 plain', '2025-11-25 plain', '2025-06-18 plain'],
  ...[
    '2026-07-28 SEP-1391',
    '2025-11-25 SEP-1391',
    '2026-07-28 two-stage',
    '2025-11-25 two-stage',
    'HTTP jobs',
  ],
];
const named = (name: string) => protocols.find((one) => one.name === name)!;

test('every protocol is tried', () => {
  expect(protocols.map(({ name }) => name)).toEqual(NAMES);
});

test.each(NAMES)('%s: arguments and their items are refused by path, and nothing starts', async (name) => {
  const protocol = named(name);
  const key = randomUUID();
  for (const [args, where, digits] of [
    [{ seconds: 0, label: number(BIG) }, 'label', BIG],
    [{ seconds: number('1e400') }, 'seconds', '1e400'],
    [
      { seconds: 0, items: [1, { deep: [number('-12345678901234567890')] }] },
      'items.1.deep.0',
      '-12345678901234567890',
    ],
  ] as const)
    await expect(protocol.start('slow_compute', args, key)).rejects.toMatchObject({
      name: 'Refused',
      message: expect.stringContaining(`.${where}: ${REFUSED}${digits}; send it as a string`),
    });
  // The key is still free.
  const token = await protocol.start('slow_compute', { seconds: 0, label: BIG }, key);
  const over = await eventually('it is over', async () => {
    const reading = await protocol.read(token);
    return reading?.isOver ? reading : undefined;
  });
  expect(over.result.label).toBe(BIG);
});

test.each(NAMES)('%s: an answer is refused, and the question stays open', async (name) => {
  const protocol = named(name);
  const token = await protocol.start('confirm_delete', { filename: 'a' }, randomUUID());
  const key = await eventually('it asks', async () => (await protocol.read(token))?.questions[0]?.key);
  await expect(protocol.answer(token, key, { confirm: number(BIG) })).rejects.toThrow(
    /keeps its digits|HTTP 400/,
  );
  expect((await protocol.read(token))?.questions.map((question) => question.key)).toEqual([key]);
  await protocol.answer(token, key, { confirm: true });
  await eventually('it is over', async () => (await protocol.read(token))?.isOver);
});

test.each(NAMES.filter((name) => name !== 'HTTP jobs'))(
  '%s: keys that differ in their digits are never one: as numbers they are refused',
  async (name) => {
    const protocol = named(name);
    for (const key of [number(BIG), number('9007199254740992')])
      await expect(protocol.start('slow_compute', { seconds: 0 }, key)).rejects.toThrow(
        'params._meta.longhaul/idempotencyKey: expected a number that keeps its digits',
      );
    const run = randomUUID();
    const tokens = [`${run}${BIG}`, `${run}9007199254740992`].map((key) =>
      protocol.start('slow_compute', { seconds: 0 }, key),
    );
    expect(new Set(await Promise.all(tokens)).size).toBe(2);
  },
);

test('request IDs are refused with the ID null, since none of them could be answered', async () => {
  const { client } = parts;
  const body = JSON.stringify({ ...client.envelope('tools/list'), id: 0 }).replace('"id":0', `"id":${BIG}`);
  const response = await client.post(body, client.headers('tools/list'));
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32600, message: `id: ${REFUSED}${BIG}; send it as a string` },
  });
});

test('cursors, waits and changes of a resume are refused by path', async () => {
  const jobs = new JobsClient(parts.base);
  const id = await jobs.start('slow_compute', { seconds: 0 });
  for (const [tool, args, where] of [
    ['operation_list', { cursor: number(BIG) }, 'cursor'],
    ['operation_get', { token: id, wait: true, timeout: number('1e400') }, 'timeout'],
    ['operation_resume', { token: id, changes: { label: number(BIG) } }, 'changes.label'],
  ] as const) {
    const { error } = await parts.client.request('tools/call', { name: tool, arguments: args });
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(`params.arguments.${where}: `),
    });
  }
  for (const [path, body, where] of [
    [`/v1/jobs/${id}:resume`, { changes: { label: number(BIG) } }, 'body.changes.label'],
    [`/v1/jobs/${id}:cancel`, { reason: number(BIG) }, 'body.reason'],
    ['/v1/jobs', { tool: 'slow_compute', arguments: { seconds: number('1e400') } }, 'body.arguments.seconds'],
  ] as const)
    expect(await jobs.post(path, body)).toMatchObject({
      status: 400,
      body: { type: '/problems/invalid-request', detail: expect.stringContaining(`${where}: ${REFUSED}`) },
    });
});
