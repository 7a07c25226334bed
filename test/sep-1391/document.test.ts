/** Walks SEP-1391 from its beginning to its end; docs/sep-1391.md lists its statements with the tests that hold them. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { run as runCommand } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { AsyncClient, connectSession, connectStateless, OPTED_IN, type Wire } from './client.js';

jest.setTimeout(PROCESSES_MS);

const PROJECT = resolve('test/sep-1391/project');
let parts: TestStack;
let url: string;
beforeAll(async () => {
  parts = await TestStack.start({ LONGHAUL_PROJECT: PROJECT });
  url = parts.client.url;
});
afterAll(() => parts?.stop());

const REVISIONS: [string, (capabilities?: object) => Promise<Wire>][] = [
  ['2025-11-25', (capabilities) => connectSession(url, capabilities, '2025-11-25')],
  ['2026-07-28', async (capabilities) => connectStateless(url, capabilities)],
];
const toolsOf = async (wire: Wire) => {
  const { result } = await wire.request('tools/list');
  return Object.fromEntries(result.tools.map((tool: any) => [tool.name, tool]));
};

describe.each(REVISIONS)('in %s', (revision, connect) => {
  const opted = async () => new AsyncClient(await connect());

  test('the asynchronous example runs as it is written: started, polled, collected', async () => {
    const client = await opted();
    const asyncResponse = await client.wire.request('tools/call', {
      request: { name: 'expensive_analysis', arguments: { dataset: 'large_file.csv' } },
      operation: { keepAlive: 3600 },
    });
    expect(asyncResponse.result).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('has started') }],
      operation: { token: expect.stringMatching(/^[0-9a-f]{32}$/), keepAlive: 3600, status: 'submitted' },
    });
    const { token, pollFrequency } = asyncResponse.result.operation;
    for (;;) {
      const { result: status } = await client.status(token);
      if (status.status === 'completed') {
        const { result } = await client.result(token);
        expect(result.result).toMatchObject({
          content: [{ type: 'text', text: 'large_file.csv has 512 rows' }],
          structuredContent: { dataset: 'large_file.csv', rows: 512 },
        });
        break;
      }
      await sleep(1000 * (pollFrequency ?? 1));
    }
  });

  test('pollFrequency, in seconds, follows the estimate', async () => {
    const client = await opted();
    // Neither has ever completed, so the estimates come from their definitions.
    expect(await client.start('ends_badly', { how: 'fails' })).toMatchObject({ pollFrequency: 1 });
    expect(await client.start('never_ends', {})).toMatchObject({ pollFrequency: 10 });
  });

  test('the synchronous example gives its result at once, also to clients that opted in', async () => {
    for (const wire of [await connect(), await connect({})]) {
      const { result } = await wire.request('tools/call', {
        name: 'quick_calculation',
        arguments: { x: 5, y: 10 },
      });
      expect(result.structuredContent).toEqual({ sum: 15 });
      expect(result).not.toHaveProperty('operation');
      expect(result).not.toHaveProperty('_operation');
    }
  });

  test('tools say their invocationMode', async () => {
    const tools = await toolsOf(await connect());
    expect(tools.quick_calculation.invocationMode).toBe('sync');
    for (const name of ['expensive_analysis', 'deep_analysis', 'nightly_report']) {
      expect(tools[name].invocationMode).toBe('async');
      expect(tools[name].description).toContain('experimental.asyncTools');
    }
    expect(tools.operation_get.invocationMode).toBe('sync');
    // SDK clients validate every reply against it, and the immediate one is not the result.
    expect(tools.expensive_analysis).not.toHaveProperty('outputSchema');
    expect(tools.quick_calculation).toHaveProperty('outputSchema');
  });

  test('other clients see no invocationMode and no hidden tool', async () => {
    const tools = await toolsOf(await connect({}));
    expect(JSON.stringify(tools)).not.toContain('invocationMode');
    expect(tools).not.toHaveProperty('deep_analysis');
    for (const name of ['quick_calculation', 'expensive_analysis', 'nightly_report'])
      expect(tools).toHaveProperty(name);
    // In 2025-11-25 any call may become a task.
    expect('never_ends' in tools).toBe(revision === '2025-11-25');
    const { error } = await new AsyncClient(await connect({})).call('never_ends', {});
    expect(error?.code).toBe(revision === '2025-11-25' ? -32601 : -32021);
  });

  test('the error for an unknown tool names the tools that its client is shown, and no other', async () => {
    for (const capabilities of [OPTED_IN, {}]) {
      const wire = await connect(capabilities);
      const names = Object.keys(await toolsOf(wire));
      expect(names.includes('deep_analysis')).toBe(capabilities === OPTED_IN);
      const { error } = await new AsyncClient(wire).call('nonesuch', {});
      expect(error).toMatchObject({
        code: -32602,
        message: `unknown tool "nonesuch"; known are ${names.join(', ')}`,
      });
    }
  });

  test('the description says what cancels on HTTP', async () => {
    const { description } = (await toolsOf(await connect())).expensive_analysis;
    expect(description).toContain('operation_cancel');
    // In 2026-07-28 the notification is for stdio only, and the answered call has no stream to close.
    expect(description.includes('notifications/cancelled')).toBe(revision === '2025-11-25');
  });

  test('a call of a hidden tool by another client is -32600', async () => {
    const { error } = await new AsyncClient(await connect({})).call('deep_analysis', {});
    expect(error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('experimental.asyncTools'),
    });
  });

  test('other clients get the plain contract of hybrid tools, and of those whose author wants it', async () => {
    const other = new AsyncClient(await connect({}));
    const hybrid = await other.call('expensive_analysis', { dataset: 'a' });
    expect(hybrid.result.structuredContent).toMatchObject({
      status: 'completed',
      result: { dataset: 'a', rows: 512 },
    });
    const asyncOnly = await other.call('nightly_report', {});
    expect(asyncOnly.result.structuredContent).toMatchObject({ next_action: { tool: 'operation_get' } });
    for (const { result } of [hybrid, asyncOnly]) expect(result).not.toHaveProperty('operation');
  });

  test('a client may bring its token; every message of the operation carries it', async () => {
    const client = await opted();
    const token = `my.own~token_${randomUUID()}`;
    const { result: started } = await client.call('expensive_analysis', { dataset: 'b' }, { token });
    expect(started.operation.token).toBe(token);
    const status = await client.until(token);
    const { result } = await client.result(token);
    for (const message of [started, status, result, result.result])
      expect(message._operation).toEqual({ token });
  });

  test('a call without a token gets one made, also without the field', async () => {
    const client = await opted();
    const { result } = await client.call('deep_analysis', {});
    expect(result.operation.token).toMatch(/^[0-9a-f]{32}$/);
    await client.until(result.operation.token, ['completed']);
  });

  test('a token that was used is refused, for the same call and for another, and nothing starts', async () => {
    const client = await opted();
    const token = randomUUID();
    await client.start('expensive_analysis', { dataset: 'first' }, { token });
    for (const dataset of ['first', 'second']) {
      const { error } = await client.call('expensive_analysis', { dataset }, { token });
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('params.operation.token'),
      });
    }
    await client.until(token, ['completed']);
    expect((await client.result(token)).result.result.structuredContent).toMatchObject({ dataset: 'first' });
  });

  test('keepAlive is answered with its final value, which what Temporal keeps bounds', async () => {
    const client = await opted();
    const keepAlives = [60, 0.5, 1e300, null, undefined, 59.1];
    const given = await Promise.all(
      keepAlives.map(async (keepAlive) => {
        const { keepAlive: final } = await client.start('deep_analysis', {}, { keepAlive });
        return final;
      }),
    );
    const [, , bound] = given;
    expect(bound).toBeGreaterThanOrEqual(24 * 3600);
    expect(given).toEqual([60, 1, bound, bound, Math.min(bound, 24 * 3600), 60]);
  });

  test('a result can be fetched again and again, and by another client', async () => {
    const client = await opted();
    const { token } = await client.start('expensive_analysis', { dataset: 'c' });
    await client.until(token, ['completed']);
    const first = (await client.result(token)).result;
    expect((await client.result(token)).result).toEqual(first);
    expect((await (await opted()).result(token)).result).toEqual(first);
  });

  test('once keepAlive has passed the operation is failed, and has expired', async () => {
    const client = await opted();
    const { token } = await client.start('deep_analysis', {}, { keepAlive: 1 });
    await client.until(token, ['completed']);
    expect(await client.until(token, ['failed'])).toMatchObject({ error: 'Operation has expired' });
    expect((await client.result(token)).error).toMatchObject({
      code: -32602,
      message: 'Failed to retrieve operation: Operation has expired',
      data: { status: 'failed' },
    });
  });

  test('a running operation is submitted, then working; its result is asked for too early', async () => {
    const client = await opted();
    const { token, status } = await client.start('expensive_analysis', { dataset: 'd', seconds: 60 });
    expect(status).toBe('submitted');
    const working = await client.until(token, ['working']);
    expect(working).not.toHaveProperty('error');
    expect((await client.result(token)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^Failed to retrieve operation: Operation is working/),
      data: { status: 'working' },
    });
    await client.wire.request('tools/call', { name: 'operation_cancel', arguments: { token } });
    await client.until(token, ['canceled']);
  });

  test.each([
    ['fails', 'the second part went wrong'],
    ['is_late', 'longer than its maximum'],
  ])('work that %s is failed, says why, and its result too', async (how, why) => {
    const client = await opted();
    const { token } = await client.start('ends_badly', { how });
    expect(await client.until(token)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(why),
    });
    const { result } = (await client.result(token)).result;
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(new RegExp(`${why}[^]*first part`)) }],
    });
  });

  test('what can not be read is unknown', async () => {
    const client = await opted();
    const letter = randomUUID();
    const { token } = await client.start('long_letter', { letter, copies: 10_000 });
    const handle = (await parts.temporal()).workflow.getHandle(token);
    await eventually('it has ended', async () => (await handle.describe()).status.name === 'COMPLETED');
    // Simulates a stored result that was deleted by mistake.
    const stored = join(process.env['LONGHAUL_HOME']!, 'storage');
    for (const name of readdirSync(stored, { recursive: true, withFileTypes: true })) {
      const path = join(name.parentPath, name.name);
      if (name.isFile() && readFileSync(path, 'utf8').includes(letter)) rmSync(path);
    }
    const { result } = await client.status(token);
    expect(result).toMatchObject({ status: 'unknown', _operation: { token } });
    expect((await client.result(token)).error?.code).toBe(-32603);
  });

  test('an unknown token is not found', async () => {
    const client = await opted();
    for (const { error } of [await client.status('nobody-has-it'), await client.result('nobody-has-it')])
      expect(error).toMatchObject({
        code: -32602,
        message: 'Failed to retrieve operation: Operation not found',
      });
  });

  test("another principal's token is not found either, and is refused as a used one is", async () => {
    const client = await opted();
    const token = randomUUID();
    const temporal = await parts.temporal();
    const handle = await temporal.workflow.start('nobodys', {
      workflowId: token,
      taskQueue: `nobody-${randomUUID()}`,
      memo: { longhaul: { version: 1, principal: 'somebody else', tool: 'deep_analysis' } },
    });
    try {
      const unknown = await client.status('nobody-has-it');
      expect((await client.status(token)).error).toEqual(unknown.error);
      expect((await client.result(token)).error).toEqual(unknown.error);
      const { error } = await client.call('deep_analysis', {}, { token });
      expect(error).toMatchObject({ code: -32602 });
    } finally {
      await handle.terminate();
    }
  });

  test('both opt-ins are declared to every client, whether or not it opted in', async () => {
    const method = revision === '2026-07-28' ? 'server/discover' : 'initialize';
    const both = { asyncTools: {}, twoStage: {} };
    for (const experimental of [{}, { asyncTools: {} }, both]) {
      const wire = await connect({ experimental });
      const answer: any = 'initialized' in wire ? wire.initialized : await wire.request(method);
      const { capabilities, instructions } = answer.result;
      expect(capabilities.experimental).toEqual(both);
      for (const text of [
        'experimental.asyncTools',
        'docs/sep-1391.md',
        'experimental.twoStage',
        'docs/two-stage.md',
      ])
        expect(instructions).toContain(text);
    }
  });

  test('wrong arguments are a result that says so, and the token stays free', async () => {
    const client = await opted();
    const token = randomUUID();
    const { result } = await client.call('expensive_analysis', { dataset: 7 }, { token });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('arguments.dataset') }, expect.anything()],
    });
    expect((await client.status(token)).error?.code).toBe(-32602);
    await client.start('expensive_analysis', { dataset: 'g' }, { token });
  });
});

test('the same operation reads the same as a task, with operation_get, on the command line and in Temporal', async () => {
  const client = new AsyncClient(await connectSession(url));
  const { token } = await client.start('expensive_analysis', { dataset: 'e' });
  await client.until(token, ['completed']);
  const task = await parts.client.get(token);
  expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { dataset: 'e' } } });
  const looked = await client.wire.request('tools/call', {
    name: 'operation_get',
    arguments: { token },
  });
  expect(looked.result.structuredContent).toMatchObject({ status: 'completed', result: { dataset: 'e' } });
  const { stdout } = await runCommand(parts, ['result', token]);
  expect(stdout).toContain('e has 512 rows');
  const description = await (await parts.temporal()).workflow.getHandle(token).describe();
  expect(description.status.name).toBe('COMPLETED');
});

test('an operation that a task client started is one here too', async () => {
  const taskId = await parts.client.start('deep_analysis');
  const client = new AsyncClient(await connectSession(url));
  await client.until(taskId, ['completed']);
  expect((await client.result(taskId)).result.result.structuredContent).toEqual({ depth: 3 });
});

test('a task field wins over the opt-in, and both fields are refused', async () => {
  const client = new AsyncClient(await connectSession(url, undefined, '2025-11-25'));
  const { result } = await client.call('deep_analysis', {}, undefined, { task: {} });
  expect(result.task).toMatchObject({ taskId: expect.any(String) });
  const both = await client.call('deep_analysis', {}, {}, { task: {} });
  expect(both.error).toMatchObject({ code: -32602, message: expect.stringContaining('params.task') });
});

test('progress comes on the own stream of a session that asked for it, with the token', async () => {
  const wire = await connectSession(url);
  const client = new AsyncClient(wire);
  await wire.listen();
  const { result } = await client.call('expensive_analysis', { dataset: 'f', seconds: 6 }, undefined, {
    _meta: { progressToken: 'p' },
  });
  const { token } = result.operation;
  const progress = await eventually('there is progress', () => {
    const notified = wire.messages.filter(({ method }) => method === 'notifications/progress');
    return notified.length >= 2 ? notified : undefined;
  });
  for (const { params } of progress)
    expect(params).toMatchObject({ progressToken: 'p', total: 6, _operation: { token } });
  // A notification has no ID.
  expect((await client.status(token)).result.status).not.toBe('input_required');
  await client.until(token);
  await wire.close();
});
