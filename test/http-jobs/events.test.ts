/** `GET /v1/jobs/{id}/events`: each event once and in order, from any server. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { SLOW_READER_MS } from '../../mcp-server/http-jobs/events.js';
import { PipelineProject } from '../pipelines/support.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { allEvents, openEvents, loggedLines, stateEvents, type ReadEvent } from './sse.js';
import { expectProblem } from './support.js';
import { forged } from '../support/forged.js';
import { JobsClient } from '../support/jobs.js';

/** Lines of the large log: more than a connection buffers. */
const MANY_LINES = 240_000;
const PIPELINES = {
  release: `
inputs: { properties: { items: { type: array, items: { type: string } } }, required: [items] }
jobs:
  each:
    for-each: items
    steps:
      - { name: Say, run: 'for i in 1 2 3; do echo "$LONGHAUL_ITEM $i"; sleep 0.2; done' }
      - { name: Grow, run: 'printf "begun, "; sleep 1.5; echo "and ended"; printf "no newline at the end"' }
      - { name: Fails, run: 'echo oh; exit 3', continue-on-error: true }
  publish:
    needs: each
    steps:
      - { name: Publish, approval: { message: Publish? }, run: 'echo published' }
`,
  quick: 'jobs: { say: { steps: [{ run: echo quick }] } }',
  large: `
jobs:
  write:
    steps:
      - { run: 'seq -f "%.0f ${'x'.repeat(90)}" ${MANY_LINES}' }
`,
  waits: 'jobs: { ask: { steps: [{ approval: { message: Well? } }] } }',
};

let closed: string;
let all: ReadEvent[];

const project = await forAllTests(PipelineProject.shared(PIPELINES));
const jobs = new JobsClient(project.parts.base);
const port = await freePort();
project.parts.server({ LONGHAUL_PORT: String(port) });
const other = new JobsClient(`http://127.0.0.1:${port}`);
await inSetUp(
  eventually('the other server is ready', () =>
    fetch(`${other.base}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  ),
);

describe('the events of a pipeline', () => {
  test('have its states, questions, progress and log lines as they come, and end with the result', async () => {
    closed = await jobs.start('release', { items: ['a', 'b'] });
    const stream = await openEvents(jobs.base, closed);
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    const asked = await eventually('it asks', () =>
      stream.events.find(({ event }) => event === 'input_required'),
    );
    expect(asked.data).toMatchObject({
      job_id: closed,
      key: 'input-1',
      message: 'publish / Publish: Publish?',
    });
    expect(loggedLines(stream.events)['each[0]/1']?.[0]).toEqual({ number: 1, text: 'a 1' });
    const answer = await jobs.post(`/v1/jobs/${closed}/input`, { key: 'input-1', value: { approve: true } });
    expect(answer.status).toBeLessThan(300);
    expect(await stream.ended).toBe(true);

    expect(stream.comments[0]).toBe('open');
    expect(stream.events[0]).toMatchObject({ event: 'status', data: { status: 'queued' } });
    expect(stream.events.some(({ event }) => event === 'progress')).toBe(true);
    expect(stream.events.filter(({ event, id }) => (event === 'progress') === (id !== undefined))).toEqual(
      [],
    );
    const last = stream.events.at(-1)!;
    expect(last).toMatchObject({ event: 'result', data: { job_id: closed, status: 'succeeded' } });
    const states = stateEvents(stream.events) as { status?: string; stage?: string }[];
    expect(states.at(-1)).toMatchObject({ event: 'status', status: 'succeeded' });
    expect(states.map(({ stage }) => stage)).toContain('publish / Publish');

    all = await allEvents(jobs.base, closed);
    expect(stateEvents(all)).toEqual(states);
    expect(loggedLines(all)).toEqual(loggedLines(stream.events));
  });

  test('have every line of every step once, whole', () => {
    const lines = Object.fromEntries(
      Object.entries(loggedLines(all)).map(([step, logged]) => [step, logged.map(({ text }) => text)]),
    );
    const ofItem = (item: string, index: number) => ({
      [`each[${index}]/1`]: [1, 2, 3].map((number) => `${item} ${number}`),
      [`each[${index}]/2`]: ['begun, and ended', 'no newline at the end'],
      [`each[${index}]/3`]: ['oh'],
    });
    expect(lines).toEqual({ ...ofItem('a', 0), ...ofItem('b', 1), 'publish/1': ['published'] });
  });

  test('resume after any of them, also on another server', async () => {
    const kept = all.filter(({ id }) => id !== undefined);
    expect(kept.length).toBeGreaterThan(10);
    for (const [at, { id }] of kept.slice(0, -1).entries()) {
      const stream = await openEvents(at % 2 ? jobs.base : other.base, closed, id);
      await stream.ended;
      const rest = stream.events.filter((event) => event.id !== undefined);
      expect(rest.map(({ event, data }) => ({ event, data }))).toEqual(
        kept.slice(at + 1).map(({ event, data }) => ({ event, data })),
      );
    }
  });

  test('are over after the last one: 204, so that clients do not reconnect', async () => {
    const { response } = await openEvents(other.base, closed, all.at(-1)!.id);
    expect(response.status).toBe(204);
  });
});

describe('a request is refused with a problem document for', () => {
  test('a Last-Event-ID that is made up, changed, or of another job', async () => {
    const id = all[0]!.id!;
    const another = await jobs.start('waits');
    for (const [job, lastEventId] of [
      [closed, '7'],
      [closed, 'x'.repeat(9_000)],
      [closed, forged(id)],
      [another, id],
    ] as const) {
      const answer = await jobs.get(`/v1/jobs/${job}/events`, { 'last-event-id': lastEventId });
      expectProblem(answer, 'invalid-event-id', 400);
      expect(answer.body.detail).toContain('Last-Event-ID');
    }
    await jobs.request('DELETE', `/v1/jobs/${another}`);
  });

  test('an unknown job', async () => {
    expectProblem(await jobs.get('/v1/jobs/nothing/events'), 'job-not-found', 404);
  });

  test('a Last-Event-ID that is too old: its job is no longer kept', async () => {
    const session = await LegacyClient.open(`${jobs.base}/mcp`);
    const { taskId } = await session.task('quick', {}, { ttl: 3_000 });
    const stream = await openEvents(jobs.base, taskId);
    await eventually('it has begun', () => stream.lastId());
    stream.close();
    await eventually('it has expired', async () => (await jobs.get(`/v1/jobs/${taskId}`)).status === 410);
    const answer = await jobs.get(`/v1/jobs/${taskId}/events`, { 'last-event-id': stream.lastId()! });
    expectProblem(answer, 'job-expired', 410);
  });
});

test('a reader gets a comment while nothing happens', async () => {
  const id = await jobs.start('waits');
  const stream = await openEvents(jobs.base, id);
  await eventually('a comment has come', () => stream.comments.includes('heartbeat'));
  expect(stream.comments[0]).toBe('open');
  stream.close();
  await jobs.request('DELETE', `/v1/jobs/${id}`);
});

test('a reader that takes nothing is cut off, has cost little, and gets the rest when it comes back', async () => {
  const id = await jobs.start('large');
  await jobs.until(id, 'succeeded');
  const { text, isWhole } = await readSlowly(`${jobs.base}/v1/jobs/${id}/events`);
  expect(isWhole).toBe(false);
  // The connection itself can buffer some MB; the log has more than 20.
  expect(text.length).toBeLessThan(16 * 1024 * 1024);
  const events = text.split('\n\n').slice(0, -1);
  const valuesOf = (field: string, of: string[]) =>
    of
      .flatMap((event) => event.split('\n').filter((line) => line.startsWith(`${field}: `)))
      .map((line) => line.slice(field.length + 2));
  const lastId = valuesOf('id', events).at(-1)!;
  const logs = events.filter((event) => valuesOf('event', [event])[0] === 'log');
  const before = valuesOf('data', logs).flatMap((data) => JSON.parse(data).lines);

  const rest = await openEvents(jobs.base, id, lastId);
  expect(await rest.ended).toBe(true);
  const numbers = [...before, ...(loggedLines(rest.events)['write/1'] ?? [])].map(({ number }) => number);
  expect(numbers).toHaveLength(MANY_LINES);
  expect(numbers.every((number, index) => number === index + 1)).toBe(true);
});

/** Reads the beginning of a response, then nothing for longer than the slow-reader limit, then the rest. */
async function readSlowly(url: string): Promise<{ text: string; isWhole: boolean }> {
  const asked = request(url);
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  response.on('error', () => undefined);
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(response, 'data');
  response.pause();
  const closed = new Promise((resolve) => response.once('close', resolve));
  await delay(SLOW_READER_MS + 5_000);
  response.resume();
  await closed;
  return { text: Buffer.concat(chunks).toString(), isWhole: response.complete };
}
