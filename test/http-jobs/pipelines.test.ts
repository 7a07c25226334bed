import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { expectProblem } from './support.js';

const folder = temporaryFolder('jobs');
const parts = await forAllTests(
  TestStack.serverOnSharedWorker({ LONGHAUL_PIPELINE_FOLDERS: resolve('test/http-jobs/project/pipelines') }),
);
const { jobs } = parts;
const id = await inSetUp(jobs.start('steps', { fixed: join(folder, 'fixed') }));
const failed = await inSetUp(jobs.until(id, 'failed'));

test('a job that reaches its maximum duration ends timed_out, and what was finished stays', async () => {
  const id = await jobs.start('times_out');
  const job = await jobs.until(id, 'timed_out');
  expect(job).toMatchObject({
    partial: { done: ['first part'] },
    error: { kind: 'timed_out', retryable: expect.any(Boolean) },
  });
  expectProblem(await jobs.post(`/v1/jobs/${id}:cancel`), 'wrong-state', 409);
  expect((await jobs.get(job.links.partial)).body).toEqual({ done: ['first part'] });
});

test('steps are listed with links to their logs', async () => {
  const { body } = await jobs.get(failed.links.logs);
  expect(body.steps).toEqual([
    expect.objectContaining({ step: 'build/1', name: 'Print', status: 'succeeded', exit_code: 0 }),
    expect.objectContaining({ step: 'check/1', name: 'Look', status: 'failed', exit_code: 1 }),
  ]);
  const { body: page } = await jobs.get(body.steps[0].log_url);
  expect(page).toMatchObject({ step: 'build/1', name: 'Print', status: 'succeeded', is_complete: true });
});

test('a log is read in pages of JSON, and continues with its cursor', async () => {
  const path = `${failed.links.logs}/build%2F1`;
  const first = await jobs.get(`${path}?from=10&limit=3`);
  expect(first.body).toMatchObject({ is_at_end: false, is_complete: true });
  expect(first.body.lines.map((line: any) => [line.number, line.text])).toEqual([
    [10, 'line 10'],
    [11, 'line 11'],
    [12, 'line 12'],
  ]);
  const second = await jobs.get(`${path}?limit=1&cursor=${first.body.cursor}`);
  expect(second.body.lines).toEqual([{ number: 13, text: 'line 13' }]);
  const link = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link')!)![1]!;
  expect((await jobs.get(link)).body.lines[0]).toEqual({ number: 13, text: 'line 13' });
  // The slash may be unencoded.
  expect((await jobs.get(`${failed.links.logs}/build/1?tail=1`)).body.lines).toEqual([
    { number: 300, text: 'line 300' },
  ]);
});

test('a log is read as text, whole', async () => {
  const { headers, body } = await jobs.get(`${failed.links.logs}/build%2F1`, { accept: 'text/plain' });
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(body).toBe(Array.from({ length: 300 }, (_, index) => `line ${index + 1}\n`).join(''));
  const some = await jobs.get(`${failed.links.logs}/build%2F1?from=2&limit=2`, { accept: 'text/plain' });
  expect(some.body).toBe('line 2\nline 3\n');
});

test('unknown logs and invalid cursors are refused', async () => {
  expectProblem(await jobs.get(`${failed.links.logs}/other%2F1`), 'resource-not-found', 404);
  expectProblem(await jobs.get(`${failed.links.logs}/build%2F1?cursor=made-up`), 'invalid-cursor', 400);
  for (const query of ['from=0', 'from=x', 'limit=1000', 'lines=3'])
    expectProblem(await jobs.get(`${failed.links.logs}/build%2F1?${query}`), 'invalid-request', 400);
});

test('files are listed and sent, in ranges too, and never as a page of this server', async () => {
  const { body } = await jobs.get(failed.links.artifacts);
  const text = '<script>alert(1)</script>\n';
  expect(body.artifacts).toEqual([
    expect.objectContaining({
      name: 'build/page.html',
      bytes: text.length,
      content_type: expect.any(String),
    }),
  ]);
  const [{ url }] = body.artifacts;
  expect((await jobs.get(decodeURIComponent(url))).body).toBe(text);
  const whole = await jobs.get(url);
  expect(whole).toMatchObject({ status: 200, body: text });
  expect(whole.headers.get('content-type')).toContain('text/html');
  expect(whole.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''page.html");
  expect(whole.headers.get('content-security-policy')).toContain('sandbox');
  expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
  const part = await jobs.get(url, { range: 'bytes=1-6' });
  expect(part).toMatchObject({ status: 206, body: 'script' });
  expect(part.headers.get('content-range')).toBe(`bytes 1-6/${text.length}`);
  expect((await jobs.get(url, { 'if-none-match': whole.headers.get('etag')! })).status).toBe(304);
  expectProblem(await jobs.get(`${failed.links.artifacts}/other.html`), 'resource-not-found', 404);
  expectProblem(await jobs.get(`${failed.links.artifacts}/..%2F..%2Fsecret`), 'resource-not-found', 404);
});

test('a failed pipeline is resumed as a new job, the same one each time', async () => {
  const done = await jobs.kickOff('greet', { name: 'a' });
  expectProblem(await jobs.post(`/v1/jobs/${done.body.job_id}:resume`), 'wrong-state', 409);
  expectProblem(await jobs.post(failed.links.resume, { from: 'other/1' }), 'invalid-arguments', 400);

  writeFileSync(join(folder, 'fixed'), '');
  const resumed = await jobs.post(failed.links.resume);
  expect(resumed).toMatchObject({ status: 202, body: { resumed_from: failed.job_id, attempt: 2 } });
  expect(resumed.headers.get('location')).toBe(`/v1/jobs/${resumed.body.job_id}`);
  const again = await jobs.post(failed.links.resume, {});
  expect(again.body.job_id).toBe(resumed.body.job_id);
  await jobs.until(resumed.body.job_id, 'succeeded');
  expectProblem(await jobs.post(failed.links.resume, { from: 'build/1' }), 'wrong-state', 409);
  // The files and logs of its finished steps belong to the earlier job.
  const { body } = await jobs.get(resumed.body.links.artifacts);
  expect((await jobs.get(body.artifacts[0].url)).status).toBe(200);
  const { body: log } = await jobs.get(`${resumed.body.links.logs}/build%2F1?limit=1`);
  expect(log.lines).toEqual([{ number: 1, text: 'line 1' }]);
});
