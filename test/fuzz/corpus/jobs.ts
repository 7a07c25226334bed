/** The jobs API: every path and method of its OpenAPI document. */
import { JobsClient } from '../../support/jobs.js';
import type { Protocol } from './entry.js';

export const jobs: Protocol = {
  name: 'jobs',
  operations: 2,
  async build(corpus) {
    const client = new JobsClient(corpus.base);
    const done = await client.start('slow_compute', { seconds: 0, label: 'l' });
    const asking = await client.start('confirm_delete', { filename: 'a' });
    await client.until(done, 'succeeded');
    await client.until(asking, (job) => job.input_required !== undefined);
    const listed = corpus.keep((await client.get('/v1/jobs?limit=1')).body);
    const events = String((await client.get(`/v1/jobs/${done}/events`)).body);
    const eventIds = [...events.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id!);
    const etag = (await client.get(`/v1/jobs/${done}/result`)).headers.get('etag') ?? '';
    corpus.keep([done, asking, eventIds, etag]);

    const get = (target: string, headers: Record<string, string> = {}, mayWait = false) =>
      corpus.add(`GET ${target.split('?')[0]}`, 'GET', target, headers, undefined, mayWait);
    const post = (target: string, body: unknown, headers: Record<string, string> = {}) =>
      corpus.add(`POST ${target}`, 'POST', target, { 'content-type': 'application/json', ...headers }, body);
    const cursor = listed.next_cursor ? `&cursor=${encodeURIComponent(listed.next_cursor)}` : '';

    post('/v1/tools/greet/jobs', { name: 'Ada' }, { prefer: 'respond-async, wait=1' });
    post(
      '/v1/tools/slow_compute/jobs?keep_alive_seconds=60',
      { seconds: 0, label: 'l' },
      { 'idempotency-key': '"fuzz-job"' },
    );
    post(
      '/v1/jobs',
      { tool: 'confirm_delete', arguments: { filename: 'a' } },
      { prefer: 'respond-async', 'longhaul-session': 's' },
    );
    post(`/v1/jobs/${asking}/input`, { key: 'input-1', value: { confirm: false } });
    post(`/v1/jobs/${done}:cancel`, { reason: 'r' });
    post(`/v1/jobs/${done}:resume`, { changes: {} });
    post(`/v1/jobs/${done}:delete`, {});
    get('/v1/tools');
    get('/v1/tools/slow_compute', { accept: 'text/markdown' });
    get(`/v1/jobs?status=succeeded&tool=slow_compute&limit=1${cursor}`);
    get(`/v1/jobs?created_after=2026-01-01T00:00:00Z&session=s&idempotency_key=k`);
    get(`/v1/jobs/${done}`, { 'if-none-match': etag });
    get(`/v1/jobs/${asking}?wait=1`, { prefer: 'wait=1' }, true);
    get(`/v1/jobs/${done}/events`, { accept: 'text/event-stream' }, true);
    get(`/v1/jobs/${asking}/events`, { 'last-event-id': eventIds[0] ?? '' }, true);
    get(`/v1/jobs/${done}/events`, { 'last-event-id': eventIds.at(-1) ?? '' }, true);
    get(`/v1/jobs/${done}/result`, { range: 'bytes=0-3', 'if-range': etag });
    get(`/v1/jobs/${done}/partial`);
    get(`/v1/jobs/${done}/logs`);
    get(`/v1/jobs/${done}/logs/activity?tail=5&pattern=a`, { accept: 'text/plain' });
    get(`/v1/jobs/${done}/artifacts`);
    get(`/v1/jobs/${done}/artifacts/a.txt`, { range: 'bytes=-5' });
    corpus.add('DELETE job', 'DELETE', `/v1/jobs/${done}`, {});
    for (const path of [
      '/problems',
      '/problems/too-large',
      '/openapi.json',
      '/docs',
      '/docs/start.js',
      '/healthz',
      '/readyz',
    ])
      get(path);
    get('/.well-known/oauth-protected-resource');
  },
};
