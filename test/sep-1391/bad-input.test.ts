/** Invalid requests of clients with and without the opt-in. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { AsyncClient, connectSession, connectStateless, WITH_FORMS } from './client.js';
import { REVISIONS } from './support.js';

/** Token that only refused calls bring. */
const UNUSED = 'sep-1391-bad-input';

const parts = await forAllTests(TestStack.shared());
const url = parts.client.url;

describe.each(REVISIONS)('in %s', (_revision, connectTo) => {
  const connect = (capabilities?: object) => connectTo(url, capabilities);
  const opted = async () => new AsyncClient(await connect());

  const KEEP_ALIVE =
    'params.operation.keepAlive: expected a number of seconds above 0, or null for as long as possible; got ';
  const FIELDS = 'expected an object with token and keepAlive, both optional';
  test.each<[operation: unknown, message: string | RegExp]>([
    [{ token: '' }, 'token'],
    [{ token: 'x'.repeat(233) }, '1 to 232 characters'],
    [{ token: 'x'.repeat(300) }, /expected 1 to 232 characters .*; got 300 characters, "x{40}"\.\.\.$/],
    [{ token: 'a\u0007b' }, '1 to 232 characters'],
    [{ token: 'a b' }, '1 to 232 characters'],
    [{ token: 7 }, 'params.operation.token'],
    [{ token: null }, 'params.operation.token'],
    ...[0, -1, -0.5, '3600', [3600], true].map((keepAlive): [unknown, string] => [
      { token: UNUSED, keepAlive },
      `${KEEP_ALIVE}${JSON.stringify(keepAlive)}`,
    ]),
    ...[null, true, 'token', [], 7].map((operation): [unknown, string] => [
      operation,
      `params.operation: ${FIELDS}; got ${JSON.stringify(operation)}`,
    ]),
    [{ tokn: 'abc' }, `params.operation.tokn: unknown field; ${FIELDS}`],
    [{ token: UNUSED, keepalive: 60 }, `params.operation.keepalive: unknown field; ${FIELDS}`],
  ])('the operation %j is -32602 and starts nothing', async (operation, message) => {
    const client = await opted();
    const { error } = await client.call('deep_analysis', {}, operation);
    expect(error).toMatchObject({
      code: -32602,
      message:
        typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    });
    expect((await client.status(UNUSED)).error?.message).toContain('Operation not found');
  });

  test.each([
    ['the longest token', 232, ''],
    // A state machine's execution with the longest names.
    ['an ARN of 209 characters', 209, 'arn:aws:states:ap-northeast-1:123456789012:execution:'],
  ])('%s is taken', async (_what, length, prefix) => {
    const client = await opted();
    const token = `${prefix}${randomUUID()}`.padEnd(length, 'x');
    await client.start('deep_analysis', {}, { token });
    await client.until(token, ['completed']);
  });

  test.each(['quick_calculation', 'operation_list'])(
    'operation on %s, which is sync only, is -32602',
    async (name) => {
      const { error } = await (await opted()).call(name, { x: 1, y: 1 }, { token: randomUUID() });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('sync only') });
    },
  );

  test('the documentation of a tool is read by the clients that see the tool', async () => {
    const uri = 'longhaul://tools/deep_analysis';
    const [seeing, other] = [await connect(), await connect({})];
    expect((await seeing.request('resources/read', { uri })).result.contents[0].text).toContain(
      'deep_analysis',
    );
    const hidden = await other.request('resources/read', { uri });
    const unknown = await other.request('resources/read', { uri: 'longhaul://tools/nonesuch' });
    expect(hidden.error).toMatchObject({ code: unknown.error!.code });
    expect(hidden.error!.message).toBe(
      unknown.error!.message.replace('unknown tool "nonesuch"', 'unknown tool "deep_analysis"'),
    );
  });

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
  expect(older.id).toBe('');
});
