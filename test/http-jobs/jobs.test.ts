import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { expectProblem } from './support.js';

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;

test('the status has progress in percent, the stage, and when to look again', async () => {
  const id = await jobs.start('slow_compute', { seconds: 60 });
  const job = await jobs.until(id, ({ progress }) => progress?.progress > 0);
  expect(job).toMatchObject({
    status: 'running',
    stage: 'count primes',
    progress: { total: 60, percentage: expect.any(Number), message: expect.stringContaining('primes') },
    cancel_requested: false,
  });
  expect(job.progress.percentage).toBeLessThan(100);
  const { headers } = await jobs.get(`/v1/jobs/${id}`);
  // A twentieth of about a minute.
  expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(3);
  await jobs.request('DELETE', `/v1/jobs/${id}`);
});

test('a state that the client has is answered 304, and progress changes the tag', async () => {
  const done = await jobs.kickOff('greet', { name: 'Ada' });
  const path = done.body.status_url;
  const { headers } = await jobs.get(path);
  const etag = headers.get('etag')!;
  expect(headers.get('retry-after')).toBeNull();
  const same = await jobs.get(path, { 'if-none-match': `"other", ${etag}` });
  expect(same).toMatchObject({ status: 304, body: '' });
  expect(same.headers.get('etag')).toBe(etag);
  expect((await jobs.get(path, { 'if-none-match': '"other"' })).status).toBe(200);

  const id = await jobs.start('slow_compute', { seconds: 60 });
  await jobs.until(id, ({ progress }) => progress?.progress > 0);
  const before = await jobs.get(`/v1/jobs/${id}`);
  const known = before.headers.get('etag')!;
  const after = await jobs.get(`/v1/jobs/${id}?wait=60`, { 'if-none-match': known });
  expect(after.status).toBe(200);
  expect(after.headers.get('etag')).not.toBe(known);
  expect(after.body.progress.progress).toBeGreaterThan(before.body.progress.progress);
  await jobs.request('DELETE', `/v1/jobs/${id}`);
});

test('a long poll answers with the end, or as it is once the wait is over', async () => {
  const id = await jobs.start('slow_compute', { seconds: 3 });
  const still = await jobs.get(`/v1/jobs/${id}?wait=1`);
  expect(still).toMatchObject({ status: 200, body: { job_id: id } });
  const ended = await jobs.get(`/v1/jobs/${id}?wait=60`);
  expect(ended.body).toMatchObject({ status: 'succeeded', result: { primes: expect.any(Number) } });
});

test('a question is shown, refused with what is wrong, answered once, and the job continues', async () => {
  const id = await jobs.start('confirm_delete', { filename: 'a.txt' });
  const { body: job } = await jobs.get(`/v1/jobs/${id}?wait=60`);
  expect(job).toMatchObject({ status: 'running', input_required: { requests: expect.any(Object) } });
  const [[key, request]] = Object.entries<any>(job.input_required.requests) as [[string, any]];
  expect(request).toMatchObject({ message: expect.any(String), schema: { type: 'object' } });
  const path = `/v1/jobs/${id}/input`;
  expectProblem(await jobs.post(path, { key, value: { confirm: 'perhaps' } }), 'invalid-answer', 400);
  expectProblem(await jobs.post(path, { key: 'other', value: {} }), 'wrong-state', 409);
  expectProblem(await jobs.post(path, { key }), 'invalid-request', 400);
  const racing = await Promise.all(
    [true, false].map((confirm) => jobs.post(path, { key, value: { confirm } })),
  );
  expect(racing.map(({ status }) => status).sort()).toEqual([200, 409]);
  const first = racing.find(({ status }) => status === 200)!.body;
  expect(first).toMatchObject({ key, action: 'accept', state: 'accepted', job: { job_id: id } });
  // The same answer again.
  const confirm = racing[0]!.status === 200;
  const again = await jobs.post(path, { key, value: { confirm } });
  expect(again).toMatchObject({ status: 200, body: { id: first.id, state: 'accepted' } });
  await jobs.until(id, 'succeeded');
});

test('a cancel is 202 while it lasts, 200 once canceled and again, and keeps its reason', async () => {
  const id = await jobs.start('slow_compute', { seconds: 600 });
  await jobs.until(id, ({ progress }) => progress?.progress > 0);
  const first = await jobs.post(`/v1/jobs/${id}:cancel`, { reason: 'plans have changed' });
  expect([200, 202]).toContain(first.status);
  if (first.status === 202) expect(first.body).toMatchObject({ cancel_requested: true });
  const job = await jobs.until(id, 'canceled');
  expect(job).toMatchObject({ cancel_requested: true, cancel_reason: 'plans have changed' });
  for (const again of [
    await jobs.post(`/v1/jobs/${id}:cancel`),
    await jobs.post(`/v1/jobs/${id}:cancel`, { reason: 'once more' }),
    await jobs.request('DELETE', `/v1/jobs/${id}`),
  ])
    expect(again).toMatchObject({ status: 200, body: { status: 'canceled', job_id: id } });
});

test.each([
  ['POST', (id: string) => jobs.post(`/v1/jobs/${id}:cancel`, { force: true, reason: 'stuck' })],
  ['DELETE', (id: string) => jobs.request('DELETE', `/v1/jobs/${id}?force=true&reason=stuck`)],
])('a forced cancel by %s ends the job at once and names who forced it', async (_method, force) => {
  const id = await jobs.start('slow_compute', { seconds: 600 });
  await jobs.until(id, ({ progress }) => progress?.progress > 0);
  await force(id);
  expect(await jobs.until(id, 'canceled')).toMatchObject({
    cancel_reason: 'forced by anonymous, its cleanups did not run: stuck',
  });
});

test('a job that has ended in another way is not cancelled: 409', async () => {
  const failed = await jobs.start('failing_job');
  await jobs.until(failed, 'failed');
  const { body } = await jobs.kickOff('greet', { name: 'Ada' });
  for (const [id, state] of [
    [body.job_id, 'succeeded'],
    [failed, 'failed'],
  ]) {
    for (const answer of [
      await jobs.post(`/v1/jobs/${id}:cancel`, {}),
      await jobs.request('DELETE', `/v1/jobs/${id}`),
    ]) {
      expectProblem(answer, 'wrong-state', 409);
      expect(answer.body).toMatchObject({ job_status: state, status_url: `/v1/jobs/${id}` });
    }
    expect(await jobs.job(id)).toMatchObject({ status: state });
  }
});

test('a large result is streamed, whole and in ranges', async () => {
  const bytes = 3 * 1024 * 1024;
  const id = await jobs.start('large_values', { resultBytes: bytes });
  const job = await jobs.until(id, 'succeeded');
  expect(job).toMatchObject({ result_url: `/v1/jobs/${id}/result`, result_bytes: expect.any(Number) });
  expect(job.result).toBeUndefined();
  const whole = await jobs.get(job.result_url);
  expect(whole.body.text).toHaveLength(bytes);
  expect(whole.headers.get('content-type')).toBe('application/json');
  expect(whole.headers.get('content-length')).toBe(String(job.result_bytes));
  expect(whole.headers.get('accept-ranges')).toBe('bytes');
  const text = JSON.stringify(whole.body);
  const etag = whole.headers.get('etag')!;

  const range = (value: string, headers = {}) => jobs.get(job.result_url, { range: value, ...headers });
  const part = await range('bytes=5-24');
  expect(part).toMatchObject({ status: 206, body: text.slice(5, 25) });
  expect(part.headers.get('content-range')).toBe(`bytes 5-24/${job.result_bytes}`);
  expect((await range('bytes=-3')).body).toBe(text.slice(-3));
  expect((await range(`bytes=${job.result_bytes - 2}-`)).body).toBe(text.slice(-2));
  expect((await range('bytes=0-9', { 'if-range': etag })).status).toBe(206);
  expect((await range('bytes=0-9', { 'if-range': '"other"' })).status).toBe(200);
  expect((await range('bytes=0-1,4-5')).status).toBe(200);
  expect((await range('lines=0-1')).status).toBe(200);
  expect((await jobs.get(job.result_url, { 'if-none-match': etag })).status).toBe(304);
  const head = await jobs.request('HEAD', job.result_url);
  expect(head.headers.get('content-length')).toBe(String(job.result_bytes));
  for (const bad of ['bytes=9-5', 'bytes=-0', 'bytes=x', `bytes=${job.result_bytes}-`]) {
    const refused = await range(bad);
    expectProblem(refused, 'range-not-satisfiable', 416);
    expect(refused.headers.get('content-range')).toBe(`bytes */${job.result_bytes}`);
  }
});

test('a job without a result says so, and what it has finished can be read', async () => {
  const id = await jobs.start('large_values', { partialBytes: 2 * 1024 * 1024, thenWaitSeconds: 600 });
  await jobs.until(id, 'running');
  expectProblem(await jobs.get(`/v1/jobs/${id}/result`), 'wrong-state', 409);
  const partial = await eventually('there is a partial result', async () => {
    const answer = await jobs.get(`/v1/jobs/${id}/partial`);
    return answer.status === 200 ? answer : undefined;
  });
  expect(partial.body.text).toHaveLength(2 * 1024 * 1024);
  await jobs.request('DELETE', `/v1/jobs/${id}`);
  const job = await jobs.until(id, 'canceled');
  expect(job).toMatchObject({ partial_bytes: expect.any(Number) });
  const done = await jobs.kickOff('greet', { name: 'Ada' });
  expectProblem(await jobs.get(done.body.links.partial), 'resource-not-found', 404);
});

test('jobs are found by tool, status, key and time, and only by their own caller', async () => {
  const key = randomUUID();
  const since = new Date(Date.now() - 1_000).toISOString();
  const started = await jobs.kickOff(
    'slow_compute',
    { seconds: 600 },
    { 'idempotency-key': key, prefer: 'respond-async' },
  );
  const id = started.body.job_id;
  const list = async (query: string) => (await jobs.get(`/v1/jobs?${query}`)).body.jobs as any[];
  const byKey = await eventually('it is listed', async () => {
    const found = await list(`idempotency_key=${key}`);
    return found.length ? found : undefined;
  });
  expect(byKey).toEqual([
    expect.objectContaining({
      job_id: id,
      tool: 'slow_compute',
      status_url: `/v1/jobs/${id}`,
      cancel_requested: false,
    }),
  ]);
  await jobs.until(id, 'running');
  const also = `idempotency_key=${key}`;
  expect(await list(`${also}&status=running&tool=slow_compute&user=anonymous`)).toHaveLength(1);
  expect(await list(`${also}&created_after=${since}`)).toHaveLength(1);
  for (const none of ['status=queued', 'status=succeeded', 'tool=greet', 'user=somebody', 'session=other'])
    expect(await list(`${also}&${none}`)).toEqual([]);
  expect(await list(`${also}&created_after=2999-01-01T00:00:00Z`)).toEqual([]);
  await jobs.request('DELETE', `/v1/jobs/${id}`);
});

test('a list continues with its cursor, and with no other', async () => {
  const session = randomUUID();
  const ids = await Promise.all(
    [1, 2, 3].map(async () => {
      const { body } = await jobs.kickOff('greet', { name: 'Ada' }, { 'longhaul-session': session });
      return body.job_id as string;
    }),
  );
  const page = (query: string) => jobs.get(`/v1/jobs?session=${session}&status=succeeded&limit=2${query}`);
  await eventually('all are listed', async () => {
    const { body } = await jobs.get(`/v1/jobs?session=${session}&status=succeeded`);
    return body.jobs.length === 3;
  });
  const first = await page('');
  expect(first.body.jobs).toHaveLength(2);
  const second = await page(`&cursor=${first.body.next_cursor}`);
  const found = [...first.body.jobs, ...second.body.jobs].map((job: any) => job.job_id);
  expect(found.sort()).toEqual(ids.sort());
  expectProblem(await page('&cursor=made-up'), 'invalid-cursor', 400);
  expectProblem(
    await jobs.get(`/v1/jobs?tool=greet&cursor=${first.body.next_cursor}`),
    'invalid-cursor',
    400,
  );
});
