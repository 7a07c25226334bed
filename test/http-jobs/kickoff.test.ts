import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { expectProblem } from './support.js';

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;

test('a kickoff answers at once with the job, where it stands, and how long it may take', async () => {
  const { status, headers, body } = await jobs.kickOff('large_values', { thenWaitSeconds: 1 });
  expect(status).toBe(202);
  expect(headers.get('location')).toBe(`/v1/jobs/${body.job_id}`);
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
  expect(body).toMatchObject({
    tool: 'large_values',
    status: 'queued',
    status_url: `/v1/jobs/${body.job_id}`,
    estimated_duration_seconds: expect.any(Number),
    links: { self: `/v1/jobs/${body.job_id}`, cancel: `/v1/jobs/${body.job_id}:cancel` },
  });
  const job = await jobs.until(body.job_id, 'succeeded');
  expect(job).toMatchObject({ result: { textLength: 0, text: '' }, cancel_requested: false });
});

test('POST /v1/jobs names the tool in its body', async () => {
  const { status, body } = await jobs.post('/v1/jobs', { tool: 'large_values', arguments: { text: 'abc' } });
  expect(status).toBe(202);
  expect(await jobs.until(body.job_id, 'succeeded')).toMatchObject({ result: { textLength: 3 } });
});

test('a short tool answers 200 with its result, unless the client prefers an asynchronous response', async () => {
  const waited = await jobs.kickOff('greet', { name: 'Ada' }, { prefer: 'wait=30' });
  expect(waited).toMatchObject({
    status: 200,
    body: { status: 'succeeded', result: { greeting: 'Hello, Ada!' } },
  });
  expect(waited.headers.get('preference-applied')).toBe('wait=30');
  const unasked = await jobs.kickOff('greet', { name: 'Grace' });
  expect(unasked.status).toBe(200);
  expect(unasked.headers.get('preference-applied')).toBeNull();

  const async = await jobs.kickOff('greet', { name: 'Ada' }, { prefer: 'respond-async' });
  expect(async.status).toBe(202);
  expect(async.headers.get('preference-applied')).toBe('respond-async');
});

test('a short tool that does not end within the wait answers 202, and continues', async () => {
  const { status, headers, body } = await jobs.kickOff(
    'slow_compute',
    { seconds: 4 },
    { prefer: 'respond-async, wait=1' },
  );
  expect(status).toBe(202);
  expect(headers.get('preference-applied')).toBe('respond-async, wait=1');
  expect(body.status).not.toBe('succeeded');
  await jobs.until(body.job_id, 'succeeded');
});

test('a wait is never longer than is published, and long tools never wait', async () => {
  const capped = await jobs.kickOff('greet', { name: 'Ada' }, { prefer: 'handling=lenient, Wait="3600"' });
  expect(capped.headers.get('preference-applied')).toBe('wait=60');
  const long = await jobs.kickOff('large_values', {}, { prefer: 'wait=30' });
  expect(long.status).toBe(202);
  expect(long.headers.get('preference-applied')).toBeNull();
});

test.each(['', 'wait', 'wait=soon', 'wait="3', 'wait=-1', 'respond-async=yes', ';', 'foo bar'])(
  'a preference that cannot be read is ignored: %j',
  async (prefer) => {
    const { status, headers } = await jobs.kickOff('greet', { name: 'Ada' }, { prefer });
    expect([status, headers.get('preference-applied')]).toEqual([200, null]);
  },
);

test('a key gives its job also after the end, says its rules, and belongs to one request', async () => {
  const key = randomUUID();
  const first = await jobs.kickOff('greet', { name: 'Ada' }, { 'idempotency-key': key });
  const again = await jobs.kickOff('greet', { name: 'Ada' }, { 'idempotency-key': `"${key}"` });
  expect(again.status).toBe(200);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.body).toMatchObject({
    job_id: first.body.job_id,
    idempotency: {
      key,
      replayed: true,
      kept_seconds_after_end: expect.any(Number),
      rule: expect.stringContaining('422'),
    },
  });
  const other = await jobs.kickOff('greet', { name: 'Grace' }, { 'idempotency-key': key });
  expectProblem(other, 'idempotency-key-reused', 422);
  const otherTool = await jobs.kickOff('large_values', {}, { 'idempotency-key': key });
  expect(otherTool.status).toBe(202);
  expect(otherTool.body.job_id).not.toBe(first.body.job_id);
});

test('results are kept for a day at least, whatever the caller asks', async () => {
  const keptFor = async (query: string) => {
    const { body } = await jobs.post(`/v1/tools/greet/jobs${query}`, { name: 'Ada' });
    return (Date.parse(body.expires_at) - Date.parse(body.closed_at)) / 1000;
  };
  expect(await keptFor('?keep_alive_seconds=5')).toBe(24 * 3600);
  expect(await keptFor('')).toBe(24 * 3600);
});

test('a job whose result is no longer kept is gone: 410, and not listed', async () => {
  // Only MCP's clients may ask for less than a day.
  const mcp = await LegacyClient.open(`${parts.base}/mcp`);
  const { taskId: id } = await mcp.task('large_values', {}, { ttl: 1_000 });
  await jobs.until(id, 'succeeded').catch(() => undefined);
  const gone = await eventually('it has expired', async () => {
    const answer = await jobs.get(`/v1/jobs/${id}`);
    return answer.status === 200 ? undefined : answer;
  });
  expectProblem(gone, 'job-expired', 410);
  for (const path of [`/v1/jobs/${id}/result`, `/v1/jobs/${id}/logs`, `/v1/jobs/${id}/artifacts/a`])
    expectProblem(await jobs.get(path), 'job-expired', 410);
  expectProblem(await jobs.post(`/v1/jobs/${id}:cancel`), 'job-expired', 410);
  expectProblem(await jobs.post(`/v1/jobs/${id}:resume`), 'job-expired', 410);
  const { body } = await jobs.get(`/v1/jobs?session=${encodeURIComponent(mcp.session)}`);
  expect(body.jobs).toEqual([]);
});

test('a job can be found by session, also by that of an MCP client', async () => {
  const session = `s-${randomUUID()}`;
  const id = await jobs.start('large_values', {}, { 'longhaul-session': session });
  const mcp = await LegacyClient.open(`${parts.base}/mcp`);
  const inMcp = await jobs.start('large_values', {}, { 'mcp-session-id': mcp.session });
  const byMcp = await mcp.call('large_values', { wait: false });
  for (const [name, wanted] of [
    [session, [id]],
    [mcp.session, [inMcp, byMcp.result.structuredContent.token]],
  ] as const) {
    const found = async () => {
      const { body } = await jobs.get(`/v1/jobs?session=${encodeURIComponent(name)}`);
      return body.jobs.map((job: any) => job.job_id).sort();
    };
    await eventually('all are listed', async () => (await found()).length >= wanted.length);
    expect(await found()).toEqual([...wanted].sort());
  }
});
