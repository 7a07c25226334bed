/** A reader of `GET /v1/jobs/{id}/events` that takes nothing. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { SLOW_READER_MS } from '../../mcp-server/http-jobs/events.js';
import { PipelineProject } from '../pipelines/support.js';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { loggedLines, openEvents } from './sse.js';

jest.setTimeout(STACK_MS);

/** Lines of the large log: more than a connection buffers. */
const MANY_LINES = 240_000;

let project: PipelineProject;
let jobs: JobsClient;
beforeAll(async () => {
  project = await PipelineProject.shared({
    large: `
jobs:
  write:
    steps:
      - { run: 'seq -f "%.0f ${'x'.repeat(90)}" ${MANY_LINES}' }
`,
  });
  jobs = new JobsClient(project.parts.base);
}, PROCESSES_MS);
afterAll(() => project?.stop());

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
