/** The Mcp-Name header of the 2026-07-28 revision, on the wire. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RpcAnswer } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts?.stop());

/** Sends a request with the given Mcp-Name, or with none. */
async function send(method: string, params: Record<string, unknown>, mcpName?: string): Promise<RpcAnswer> {
  const { 'mcp-name': _, ...rest } = parts.client.headers(method, params);
  const response = await parts.client.post(JSON.stringify(parts.client.envelope(method, params)), {
    ...rest,
    ...(mcpName === undefined ? {} : { 'mcp-name': mcpName }),
  });
  const { result, error } = (await response.json()) as RpcAnswer;
  return { httpStatus: response.status, notifications: [], result, ...(error && { error }) };
}

const refused = { httpStatus: 400, error: { code: -32020 } };

describe('a tasks/* request without Mcp-Name', () => {
  test('is served: a task is read, answered and cancelled', async () => {
    const taskId = await parts.client.start('confirm_delete', { filename: 'a' });
    await parts.client.until(taskId, 'input_required');
    const { result } = await send('tasks/get', { taskId });
    expect(result).toMatchObject({ taskId, status: 'input_required' });
    // A dismissed question is asked again.
    const inputResponses = { 'input-1': { action: 'cancel' } };
    for (const [method, params] of [
      ['tasks/update', { taskId, inputResponses }],
      ['tasks/cancel', { taskId }],
    ] as const)
      expect(await send(method, params)).toMatchObject({
        httpStatus: 200,
        result: { resultType: 'complete' },
      });
    await parts.client.until(taskId, 'cancelled');
  });

  test('gets the usual error for a task that is unknown, whatever characters its ID has', async () => {
    for (const taskId of ['unknown', ' ', 'a\r\nb', 'žluťoučký', '=?base64?literal?=']) {
      const named = `=?base64?${Buffer.from(taskId).toString('base64')}?=`;
      const expected = await send('tasks/get', { taskId }, named);
      expect(expected.error?.code).toBe(-32602);
      expect(await send('tasks/get', { taskId })).toEqual(expected);
    }
  });

  test('and without a task ID is refused for that', async () => {
    for (const params of [{}, { taskId: 7 }, { taskId: null }]) {
      expect((await send('tasks/get', params)).error?.code).toBe(-32602);
    }
  });
});

describe('Mcp-Name', () => {
  test('of a tasks/* request is refused where it names another task than the body', async () => {
    const taskId = await parts.client.start('confirm_delete', { filename: 'c' });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      for (const name of ['another', '', '=?base64?***?='])
        expect(await send(method, { taskId, inputResponses: {} }, name)).toMatchObject(refused);
    }
    expect((await parts.client.get(taskId)).status).not.toBe('cancelled');
    await parts.client.request('tasks/cancel', { taskId });
  });

  test('stays required where the core specification demands it', async () => {
    const call = { name: 'confirm_delete', arguments: { filename: 'd' } };
    expect(await send('tools/call', call)).toMatchObject(refused);
    // Also where the call carries a task ID, which means nothing there.
    expect(await send('tools/call', { ...call, taskId: 'confirm_delete' })).toMatchObject(refused);
    expect(await send('resources/read', { uri: 'longhaul://operations/x' })).toMatchObject(refused);
  });
});
