/** Invalid requests of clients with and without the opt-in. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { AsyncClient, connectSession, connectStateless, WITH_FORMS } from './client.js';
import { REVISIONS } from './support.js';

jest.setTimeout(PROCESSES_MS);

let parts: TestStack;
let url: string;
beforeAll(async () => {
  parts = await TestStack.shared();
  url = parts.client.url;
});
afterAll(() => parts?.stop());

describe.each(REVISIONS)('in %s', (_revision, connectTo) => {
  const connect = (capabilities?: object) => connectTo(url, capabilities);
  const opted = async () => new AsyncClient(await connect());

  test.each([
    ['is empty', { token: '' }, 'token'],
    ['is too long', { token: 'x'.repeat(201) }, '1 to 200 characters'],
    ['has control characters', { token: 'a\u0007b' }, '1 to 200 characters'],
    ['has spaces', { token: 'a b' }, '1 to 200 characters'],
    ['is a number', { token: 7 }, 'params.operation.token'],
    ['is null', { token: null }, 'params.operation.token'],
  ])('a token that %s is -32602 and starts nothing', async (_what, operation, message) => {
    const { error } = await (await opted()).call('deep_analysis', {}, operation);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) });
  });

  test('the longest token is taken', async () => {
    const client = await opted();
    const token = `${randomUUID()}${'x'.repeat(164)}`;
    await client.start('deep_analysis', {}, { token });
    await client.until(token, ['completed']);
  });

  test.each([
    ['0', 0],
    ['negative', -1],
    ['a negative fraction', -0.5],
    ['a text', '3600'],
    ['a list', [3600]],
    ['true', true],
  ])('a keepAlive that is %s is -32602 and starts nothing', async (_what, keepAlive) => {
    const token = randomUUID();
    const client = await opted();
    const { error } = await client.call('deep_analysis', {}, { token, keepAlive });
    expect(error).toMatchObject({
      code: -32602,
      message: `params.operation.keepAlive: expected a number of seconds above 0, or null for as long as possible; got ${JSON.stringify(keepAlive)}`,
    });
    expect((await client.status(token)).error?.message).toContain('Operation not found');
  });

  test.each([[null], [true], ['token'], [[]], [7]])(
    'an operation that is %j is -32602 and starts nothing',
    async (operation) => {
      const { error } = await (await opted()).call('deep_analysis', {}, operation);
      expect(error).toMatchObject({
        code: -32602,
        message: `params.operation: expected an object with token and keepAlive, both optional; got ${JSON.stringify(operation)}`,
      });
    },
  );

  test.each([
    ['tokn', { tokn: 'abc' }],
    ['keepalive', { token: randomUUID(), keepalive: 60 }],
    ['ttl', { token: randomUUID(), keepAlive: 60, ttl: 60_000 }],
  ])('an operation with the unknown field %s is -32602 and starts nothing', async (field, operation) => {
    const client = await opted();
    const { error } = await client.call('deep_analysis', {}, operation);
    expect(error).toMatchObject({
      code: -32602,
      message: `params.operation.${field}: unknown field; expected an object with token and keepAlive, both optional`,
    });
    if ('token' in operation)
      expect((await client.status(operation.token)).error?.message).toContain('Operation not found');
  });

  test.each(['quick_calculation', 'operation_list'])(
    'operation on %s, which is sync only, is -32602',
    async (name) => {
      const { error } = await (await opted()).call(name, { x: 1, y: 1 }, { token: randomUUID() });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('sync only') });
    },
  );

  test('operation by a client that did not opt in is -32600', async () => {
    const { error } = await new AsyncClient(await connect({})).call(
      'expensive_analysis',
      { dataset: 'a' },
      {},
    );
    expect(error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('experimental.asyncTools'),
    });
  });

  test('tools/async/* by a client that did not opt in is -32601', async () => {
    const client = new AsyncClient(await connect({ experimental: { twoStage: {} } }));
    for (const { error } of [await client.status('t'), await client.result('t')])
      expect(error?.code).toBe(-32601);
  });

  test.each([[undefined], [7], [''], ['a b'], ['x'.repeat(1_001)]])(
    'the status of the token %j is -32602',
    async (token) => {
      const client = await opted();
      for (const { error } of [await client.status(token as string), await client.result(token as string)])
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('params.token') });
    },
  );

  test('_operation of another operation on a request is -32602', async () => {
    const client = await opted();
    const { token } = await client.start('deep_analysis', {});
    const status = (own: string) =>
      client.wire.request('tools/async/status', { token, _operation: { token: own } });
    expect((await status(token)).result.status).toEqual(expect.any(String));
    expect((await status('other')).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params._operation.token'),
    });
  });

  test('a result fetched while input is required is -32602, and says so', async () => {
    const client = new AsyncClient(await connect(WITH_FORMS));
    const { token } = await client.start('migrate_code', { packages: ['a'] });
    await client.until(token, ['input_required']);
    const { error } = await client.result(token);
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('input_required'),
      data: { status: 'input_required' },
    });
  });

  test('an unknown tool is -32602', async () => {
    expect((await (await opted()).call('nobodys_tool', {}, {})).error?.code).toBe(-32602);
  });
});

test.each([[true], [[]], ['yes'], [null]])('the capability given as %j is refused', async (asyncTools) => {
  const older = await connectSession(url, { experimental: { asyncTools } });
  const { error } = await connectStateless(url, { experimental: { asyncTools } }).request('tools/list');
  for (const refused of [older.initialized.error, error])
    expect(refused).toMatchObject({
      code: -32602,
      message: expect.stringContaining('experimental.asyncTools'),
    });
  expect(older.id).toBeUndefined();
});
