/** Promises of dispatch-and-poll tools, by statement: docs/clients.md describes it. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { encode } from 'gpt-tokenizer';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import type { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { call, follow, start, statusesAt, textOf } from './support.js';

jest.setTimeout(PROCESSES_MS);

/** Most tokens of the answer to a start, and of one to a poll, as text and structured content together. */
const MOST_START_TOKENS = 175;
const MOST_POLL_TOKENS = 60;
const TERMINAL = ['completed', 'failed', 'cancelled', 'canceled', 'errored', 'expired'];

let parts: TestStack;
let client: WireClient;
beforeAll(async () => {
  parts = await TestStack.shared();
  client = parts.client.with({});
});
afterAll(() => parts?.stop());

const tokensOf = (result: any) =>
  encode(textOf(result)).length + encode(JSON.stringify(result.structuredContent)).length;
const cancel = (token: string) => call(client, 'operation_cancel', { token });
/** The work's own state, as a program reads it by `next_action`. */
async function stateBy({ tool, args, status_path }: any): Promise<string[]> {
  const { structuredContent } = await call(client, tool, args);
  return statusesAt(structuredContent, status_path);
}

describe('a dispatch without wait', () => {
  test('returns at once with the ID, and a next_action with tool, arguments, time, status field and terminal statuses', async () => {
    const result = await call(client, 'slow_compute', { seconds: 600, wait: false });
    const { token, status, next_action } = result.structuredContent;
    expect(['queued', 'running']).toContain(status);
    expect(next_action).toEqual({
      tool: 'operation_get',
      args: { token },
      check_after_seconds: expect.any(Number),
      status_path: 'status',
      terminal_statuses: TERMINAL,
    });
    expect(tokensOf(result)).toBeLessThanOrEqual(MOST_START_TOKENS);
    await cancel(token);
  });

  test('says all of that in its text too, for models that see only text', async () => {
    const result = await call(client, 'slow_compute', { seconds: 600, wait: false });
    const { token, next_action } = result.structuredContent;
    expect(textOf(result)).toContain(
      `In ${next_action.check_after_seconds} s call operation_get {"token":"${token}"}, until completed, failed, cancelled, errored or expired.`,
    );
    await cancel(token);
  });

  test('is the default of a tool whose author has not set wait', async () => {
    const { tools } = (await client.request('tools/list')).result;
    const tool = tools.find(({ name }: any) => name === 'step_ledger');
    expect(tool.inputSchema.properties.wait.default).toBe(false);
    const { structuredContent } = await call(client, 'step_ledger', { ledger: '/dev/null', steps: 1 });
    expect(structuredContent).toHaveProperty('next_action');
    await follow(client, structuredContent.token, 'completed');
  });

  test('leads to the result by next_action alone, and no status outside of the terminal set is final', async () => {
    const { next_action: next } = await start(client, 'slow_compute', { seconds: 1 });
    const seen: string[] = [];
    await eventually('its status is terminal', async () => {
      const [status] = await stateBy(next);
      seen.push(status!);
      return next.terminal_statuses.includes(status);
    });
    expect(seen.at(-1)).toBe('completed');
    for (const status of seen.slice(0, -1)) expect(['queued', 'running']).toContain(status);
  });
});

describe('a dispatch with wait', () => {
  test('blocks until the job has ended', async () => {
    const result = await call(client, 'slow_compute', { seconds: 1, wait: true });
    expect(result.structuredContent).toMatchObject({ status: 'completed' });
    expect(result.structuredContent).not.toHaveProperty('next_action');
  });

  test('whose budget runs out returns wait_timeout with the ID and the same next_action, and the job keeps running', async () => {
    const result = await call(client, 'slow_compute', { seconds: 600, wait: true, timeout: 0.5 });
    const { token, error_kind, next_action } = result.structuredContent;
    expect(error_kind).toBe('wait_timeout');
    expect(next_action).toMatchObject({
      tool: 'operation_get',
      args: { token },
      status_path: 'status',
      terminal_statuses: TERMINAL,
    });
    expect(['queued', 'running']).toContain((await stateBy(next_action))[0]);
    await cancel(token);
  });

  test('emits notifications/progress', async () => {
    const { notifications } = await client.request('tools/call', {
      name: 'slow_compute',
      arguments: { seconds: 4, wait: true },
      _meta: { progressToken: 'p' },
    });
    expect(notifications.map(({ method }) => method)).toContain('notifications/progress');
  });
});

describe('a poll', () => {
  test('keeps the short form: the time of the next one, and no tool, arguments or terminal set', async () => {
    const { token } = await start(client, 'slow_compute', { seconds: 600 });
    await follow(client, token, 'running');
    const poll = await call(client, 'operation_get', { token });
    expect(poll.structuredContent.next_action).toEqual({ check_after_seconds: expect.any(Number) });
    expect(tokensOf(poll)).toBeLessThanOrEqual(MOST_POLL_TOKENS);
    await cancel(token);
  });

  test('is first due after 30 s at most, and never later than its cap', async () => {
    const { token, next_action } = await start(client, 'hold', { folder: '/nonexistent' });
    expect(next_action.check_after_seconds).toBe(30);
    await cancel(token);
  });
});

describe('a cancel', () => {
  test('is no removal: what is finished stays, and either spelling of cancelled is terminal', async () => {
    const args = { ledger: '/dev/null', steps: 500, secondsPerStep: 0.1 };
    const { token, next_action } = await start(client, 'step_ledger', args);
    await eventually('a step is done', async () => {
      const { structuredContent } = await call(client, 'operation_get', { token, view: 'partial' });
      return structuredContent.partial?.steps.length > 0;
    });
    await cancel(token);
    const done = await follow(client, token, 'cancelled');
    expect(done.partial.steps[0]).toBe(1);
    expect(next_action.terminal_statuses).toEqual(expect.arrayContaining([done.status, 'canceled']));
  });
});
