/** Waits that a shutdown ends, and what each has to say then. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';

/** After this time requests that were sent are waits in the server; one that isn't yet is answered in the same way. */
const TAKEN_UP_MS = 3_000;

/** Gives the server the time to take up what was sent. */
export const takenUp = () => sleep(TAKEN_UP_MS);

/** Expects a plain call's result that says that the work continues, that this server stops, and what to do next. */
export function expectStopping(result: any, token: string): void {
  expect(result).not.toHaveProperty('isError');
  expect(result.structuredContent).toMatchObject({
    token,
    status: 'running',
    error_kind: 'server_stopping',
    next_action: { tool: 'operation_get', args: { token }, check_after_seconds: expect.any(Number) },
  });
  expect(result.structuredContent.next_action.check_after_seconds).toBeGreaterThanOrEqual(4);
  const [{ text }] = result.content;
  expect(text).toContain('server_stopping: this server is stopping');
  expect(text).toContain(`operation_get {"token":"${token}"}`);
}

/** The same for a short tool, whose results have their own schema. */
export function expectShortStopping(result: any): void {
  expect(result).toMatchObject({
    isError: true,
    _meta: { 'longhaul/error': { kind: 'server_stopping', retryable: true } },
  });
  expect(result.content[0].text).toMatch(/server_stopping[^]*operation_get \{"token":"\w+"\}/);
}

/** Expects the error of a `tasks/result` that a shutdown has ended. */
export function expectTaskStopping(error: any, taskId: string): void {
  expect(error).toMatchObject({
    code: -32603,
    message: expect.stringMatching(/server_stopping.*tasks\/get.*tasks\/result.*same taskId/),
    data: {
      kind: 'server_stopping',
      retryable: true,
      retryAfterSeconds: expect.any(Number),
      taskId,
      task: { taskId, status: 'working' },
    },
  });
}
