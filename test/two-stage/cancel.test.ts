/** tools/cancel_job: running, ended and unknown jobs. */
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { complete, HttpClient, OPT_IN, poll, start } from './client.js';

const parts = await forAllTests(TestStack.shared());

type Requester = Pick<HttpClient, 'request'>;
const cancel = (by: Requester, jobId: unknown, more: object = {}): Promise<any> =>
  by.request('tools/cancel_job', { job_id: jobId, ...more });
const REVISIONS: [string, () => Promise<Requester>][] = [
  ['2025-11-25', () => HttpClient.open(parts.client.url)],
  ['2026-07-28', async () => parts.client.with(OPT_IN)],
];

describe.each(REVISIONS)('in %s', (_revision, connect) => {
  test('cancels a job that runs, and says so; the reason is kept', async () => {
    const by = await connect();
    const jobId = await start(by, 'slow_compute', { seconds: 600 });
    await eventually('it runs', async () => (await poll(by, jobId)).data.status === 'running');
    const { result } = await cancel(by, jobId, { reason: 'enough primes' });
    expect(result).toMatchObject({
      success: true,
      data: { job_id: jobId, status: expect.stringMatching(/^(running|complete)$/), cancel_requested: true },
      messages: [{ type: 'info', text: expect.stringContaining(jobId) }],
      job_id: jobId,
    });
    const data = await complete(by, jobId);
    expect(data.result).toMatchObject({ success: false, data: { error: { kind: 'canceled' } } });
    const looked = await by.request('tools/call', { name: 'operation_get', arguments: { token: jobId } });
    expect(looked.result.structuredContent).toMatchObject({ status: 'cancelled' });
    expect(JSON.stringify(looked.result.structuredContent)).toContain('enough primes');
  });

  test('again and again answers alike, also once the job has ended', async () => {
    const by = await connect();
    const jobId = await start(by, 'confirm_delete', { filename: 'a' });
    const answers = [await cancel(by, jobId), await cancel(by, jobId)];
    await complete(by, jobId);
    answers.push(await cancel(by, jobId));
    for (const { result } of answers)
      expect(result).toMatchObject({
        success: true,
        data: { job_id: jobId, cancel_requested: true },
        messages: [{ type: 'info' }],
      });
    expect(answers[2].result.data.status).toBe('complete');
  });

  test('of a job that completed is no success, and changes nothing', async () => {
    const by = await connect();
    const jobId = await start(by, 'slow_compute', { seconds: 0, label: 'kept' });
    const before = await complete(by, jobId);
    for (const _time of ['once', 'again']) {
      const { result } = await cancel(by, jobId);
      expect(result).toMatchObject({
        success: false,
        data: { job_id: jobId, status: 'complete' },
        messages: [{ type: 'error', text: `Job already complete: ${jobId}` }],
      });
    }
    expect((await poll(by, jobId)).data).toEqual(before);
  });

  test('of an unknown job answers as polling it does', async () => {
    const by = await connect();
    const { result } = await cancel(by, 'abc-123');
    expect(result).toEqual(await poll(by, 'abc-123'));
    expect(result).toMatchObject({
      success: false,
      messages: [{ type: 'error', text: 'Job not found: abc-123' }],
    });
  });

  test.each([
    ['no job', undefined, {}, 'params.job_id'],
    ['an empty job', '', {}, 'params.job_id'],
    ['a job that is no text', 7, {}, 'params.job_id'],
    ['a reason that is no text', 'abc', { reason: 7 }, 'params.reason'],
    ['an empty reason', 'abc', { reason: '' }, 'params.reason'],
    ['a reason that is too long', 'abc', { reason: 'x'.repeat(501) }, 'params.reason'],
  ])('%s is refused', async (_what, jobId, more, field) => {
    const { error } = await cancel(await connect(), jobId, more);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(field) });
  });
});
