/** The events of a job whose workflow continues as new: one stream, and a snapshot where no continue-as-new leads on. */
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { forAllTests } from '../support/for-all-tests.js';
import { resetBefore } from '../support/reset-workflow.js';
import { TestStack } from '../support/test-stack.js';
import { allEvents, loggedLines, openEvents, stateEvents, type ReadEvent, type ReadStream } from './sse.js';

const LINES = 6;

// A stack of its own: these tools need a worker of their own.
const parts = await forAllTests(TestStack.start({ LONGHAUL_PROJECT: resolve('test/http-jobs/continued') }));
const { jobs } = parts;
const temporal = await parts.temporal();

/** Reads over several connections, each from the last event of the one before. */
class Reader {
  readonly #before: ReadEvent[] = [];
  #stream: ReadStream | undefined;

  constructor(private readonly jobId: string) {}

  get events(): ReadEvent[] {
    return [...this.#before, ...(this.#stream?.events ?? [])];
  }

  async open(): Promise<void> {
    const lastId = this.events.findLast(({ id }) => id !== undefined)?.id;
    this.#stream = await openEvents(jobs.base, this.jobId, lastId);
    expect(this.#stream.response.status).toBe(200);
  }

  async close(): Promise<void> {
    this.#stream?.close();
    await this.#stream?.ended;
    this.#before.push(...(this.#stream?.events ?? []));
    this.#stream = undefined;
  }

  has(key: string): Promise<unknown> {
    return eventually(
      () => `${key} is asked; ${JSON.stringify(this.events)}`,
      () => keysOf(this.events).includes(key),
    );
  }

  async ended(): Promise<void> {
    expect(await this.#stream?.ended).toBe(true);
  }
}

const keysOf = (events: ReadEvent[]): string[] =>
  events.flatMap(({ event, data }) => (event === 'input_required' ? [data.key] : []));
const linesOf = (events: ReadEvent[]) => loggedLines(events)['operation'] ?? [];
const statusesOf = (events: ReadEvent[]): string[] =>
  events.flatMap(({ event, data }) => (event === 'status' ? [data.status] : []));

const asks = (jobId: string, key: string) =>
  jobs.until(jobId, (job: any) => job.input_required?.requests?.[key] !== undefined);

async function answer(jobId: string, key: string): Promise<void> {
  const { status } = await jobs.post(`/v1/jobs/${jobId}/input`, { key, value: { go: true } });
  expect(status).toBeLessThan(300);
}

/** Lines of these runs, in the order of their work. */
function expectLines(events: ReadEvent[], runs: number[]): void {
  const lines = linesOf(events);
  expect(lines.map(({ number }) => number)).toEqual(lines.map((_line, index) => index + 1));
  const expected = runs.flatMap((run) =>
    Array.from({ length: LINES }, (_, index) => `run ${run}, line ${index + 1}`),
  );
  expect(lines).toHaveLength(expected.length);
  for (const [index, text] of expected.entries()) expect(lines[index]!.text).toContain(text);
}

test('has every status, question and line once, for readers that stay, reconnect, or are away', async () => {
  const runs = 4;
  const jobId = await jobs.start('episodes', { runs });
  const [staying, reconnecting, away] = [new Reader(jobId), new Reader(jobId), new Reader(jobId)];
  for (const reader of [staying, reconnecting, away]) await reader.open();
  for (let run = 1; run <= runs; run += 1) {
    const key = `input-${run}`;
    await asks(jobId, key);
    await reconnecting.has(key);
    await reconnecting.close();
    if (run === 1) {
      await away.has(key);
      await away.close();
    }
    await answer(jobId, key);
    if (run < runs) await asks(jobId, `input-${run + 1}`);
    await reconnecting.open();
  }
  await staying.ended();
  await reconnecting.ended();
  await away.open();
  await away.ended();

  const { events } = staying;
  expect(keysOf(events)).toEqual(['input-1', 'input-2', 'input-3', 'input-4']);
  expectLines(events, [1, 2, 3, 4]);
  expect(events.filter(({ event }) => event === 'result')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ event: 'result', data: { status: 'succeeded' } });
  const shown = events.flatMap(({ event, data }) =>
    event === 'status' ? [`${data.status}${data.input_required ? ' asking' : ''}`] : [],
  );
  expect(shown.filter((status, index) => status !== shown[index - 1])).toEqual([
    'queued',
    ...Array.from({ length: runs }, () => ['running', 'running asking']).flat(),
    'running',
    'succeeded',
  ]);
  const stages = events.flatMap(({ event, data }) => (event === 'status' ? [data.stage] : []));
  expect(stages).toContain('part 2');
  for (const reader of [reconnecting, away]) {
    expect(stateEvents(reader.events)).toEqual(stateEvents(events));
    expect(linesOf(reader.events)).toEqual(linesOf(events));
  }
  const late = await allEvents(jobs.base, jobId);
  expect(stateEvents(late)).toEqual(stateEvents(events));
  expect(linesOf(late)).toEqual(linesOf(events));

  const kept = late.filter(({ id }) => id !== undefined);
  for (const [index, { id }] of kept.slice(0, -1).entries()) {
    const stream = await openEvents(jobs.base, jobId, id);
    await stream.ended;
    const rest = kept.slice(index + 1);
    expect(stateEvents(stream.events)).toEqual(stateEvents(rest));
    expect(linesOf(stream.events)).toEqual(linesOf(rest));
  }
});

test('after a reset of a later run has one snapshot, then what happens', async () => {
  const jobId = await jobs.start('episodes', { runs: 3 });
  const reader = new Reader(jobId);
  await reader.open();
  await asks(jobId, 'input-1');
  await answer(jobId, 'input-1');
  await reader.has('input-2');
  await reader.close();
  const { length } = reader.events;
  await resetBefore(temporal, jobId, (event) => Boolean(event.activityTaskScheduledEventAttributes));

  await reader.open();
  await eventually('it asks again', () => keysOf(reader.events.slice(length)).length > 0);
  await eventually('the lines of the repeated run come', () => linesOf(reader.events).length >= 3 * LINES);
  const after = reader.events.slice(length);
  expect(after[0]).toMatchObject({ event: 'status', data: { status: 'running' } });
  expect(after[0]!.data.gap).toBeUndefined();
  expect(statusesOf(after)).not.toContain('queued');
  expect(keysOf(after)).toEqual(['input-2']);
  expectLines(reader.events, [1, 2, 2]);

  await answer(jobId, 'input-2');
  await reader.has('input-3');
  await answer(jobId, 'input-3');
  await reader.ended();
  expect(keysOf(reader.events)).toEqual(['input-1', 'input-2', 'input-2', 'input-3']);
  expectLines(reader.events, [1, 2, 2, 3]);
  expect(reader.events.at(-1)).toMatchObject({ event: 'result', data: { status: 'succeeded' } });
});

test('without an earlier run, which is no longer kept, has a snapshot marked as a gap', async () => {
  const jobId = await jobs.start('episodes', { runs: 3 });
  const reader = new Reader(jobId);
  await reader.open();
  await reader.has('input-1');
  await eventually('the lines have come', () => linesOf(reader.events).length === LINES);
  await reader.close();
  const { length } = reader.events;
  const { runId } = await temporal.workflow.getHandle(jobId).describe();
  await answer(jobId, 'input-1');
  await asks(jobId, 'input-2');
  await temporal.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: jobId, runId },
  });
  await eventually('the first run is gone', () =>
    temporal.workflow
      .getHandle(jobId, runId)
      .fetchHistory()
      .then(
        () => false,
        () => true,
      ),
  );

  const late = new Reader(jobId);
  await Promise.all([reader.open(), late.open()]);
  await Promise.all([reader.has('input-2'), late.has('input-2')]);
  for (const events of [reader.events.slice(length), late.events]) {
    const states = stateEvents(events);
    expect(states[0]).toMatchObject({
      event: 'status',
      status: 'running',
      stage: 'part 1',
      input_required: true,
      gap: true,
    });
    expect(states[1]).toMatchObject({ event: 'input_required', key: 'input-2' });
    expect(states).toHaveLength(2);
  }
  await answer(jobId, 'input-2');
  await late.has('input-3');
  await answer(jobId, 'input-3');
  await Promise.all([reader.ended(), late.ended()]);
  for (const { events } of [reader, late]) {
    expectLines(events, [1, 2, 3]);
    expect(stateEvents(events).filter((state) => 'gap' in state)).toHaveLength(1);
  }
});

test('has the questions of all parts, also with equal numbers', async () => {
  const jobId = await jobs.start('pair');
  const reader = new Reader(jobId);
  await reader.open();
  for (const key of ['left/input-1', 'right/input-1']) {
    await asks(jobId, key);
    await answer(jobId, key);
  }
  await reader.ended();
  expect(keysOf(reader.events)).toEqual(['left/input-1', 'right/input-1']);
});
