/** SEP-1391's tokens: brought, made, used, unknown. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { AsyncClient, connectSession } from './client.js';
import { REVISIONS } from './support.js';

const parts = await forAllTests(TestStack.shared());
const url = parts.client.url;

describe.each(REVISIONS)('in %s', (_revision, connectTo) => {
  const connect = (capabilities?: object) => connectTo(url, capabilities);
  const opted = async () => new AsyncClient(await connect());

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

  test('an unknown token is not found', async () => {
    const client = await opted();
    for (const { error } of [await client.status('nobody-has-it'), await client.result('nobody-has-it')])
      expect(error).toMatchObject({
        code: -32602,
        message: 'Failed to retrieve operation: Operation not found',
      });
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

test('a task field wins over the opt-in, and both fields are refused', async () => {
  const client = new AsyncClient(await connectSession(url, undefined, '2025-11-25'));
  const { result } = await client.call('deep_analysis', {}, undefined, { task: {} });
  expect(result.task).toMatchObject({ taskId: expect.any(String) });
  const both = await client.call('deep_analysis', {}, {}, { task: {} });
  expect(both.error).toMatchObject({ code: -32602, message: expect.stringContaining('params.task') });
});
