/** The workers of examples/bring-your-own do what their READMEs say, without Longhaul. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Client, type Connection, type WorkflowHandle } from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { eventually, kill, readText } from '../stack/cli-process.js';
import { INSTALL_MS, PROCESSES_MS } from '../support/limits.js';
import { connectToTemporal } from '../support/run-temporal.js';
import { runTool } from '../support/run-tool.js';
import { ExternalWorker, prepareWorker, pythonFolder, type WorkerName } from './workers.js';

const EXAMPLES = resolve('examples/bring-your-own');

jest.setTimeout(PROCESSES_MS);

let connection: Connection;
let client: Client;

beforeAll(async () => {
  connection = await connectToTemporal();
  client = new Client({ connection });
  const names: WorkerName[] = ['go', 'java', 'python'];
  const outcomes = await Promise.allSettled(names.map(prepareWorker));
  // All of them have ended, so that a failed one leaves no build behind.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}, INSTALL_MS);

afterAll(() => connection.close());

/** Starts a worker before the tests of a block, and stops it after them. */
function withWorker(name: WorkerName, environment: Record<string, string> = {}): () => ExternalWorker {
  let worker: ExternalWorker | undefined;
  beforeAll(async () => {
    worker = await ExternalWorker.start(name, { environment });
  });
  afterAll(() => worker?.stop());
  return () => worker!;
}

async function start(worker: ExternalWorker, type: string, args: unknown[]): Promise<WorkflowHandle> {
  const { taskQueue } = worker;
  return client.workflow.start(type, { taskQueue, workflowId: `external-${randomUUID()}`, args });
}

/** Waits until a query's answer holds a condition. */
async function answer<T>(
  handle: WorkflowHandle,
  query: string,
  condition: (answer: T) => boolean,
): Promise<T> {
  return eventually(`${query} answers`, async () => {
    const given = await handle.query<T>(query);
    return condition(given) ? { given } : undefined;
  }).then(({ given }) => given);
}

const statusOf = async (handle: WorkflowHandle) => (await handle.describe()).status.name;

describe('orders and refunds in Go', () => {
  const worker = withWorker('go');
  const events = (orderId: string) =>
    readText(worker().ledger)
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .filter((entry) => entry.orderId === orderId)
      .map(({ event }) => event);

  test('an order is shipped', async () => {
    const handle = await start(worker(), 'OrderWorkflow', ['A1', 1999, ['book', 'pen']]);
    const progress = await answer<any>(handle, 'getProgress', ({ done }) => done > 0);
    expect(progress).toEqual({ done: expect.any(Number), total: 3, step: expect.any(String) });
    expect(await handle.result()).toEqual({ orderId: 'A1', charged: 1999, tracking: 'TRK-F9656C81' });
    expect(await handle.query('getProgress')).toEqual({ done: 3, total: 3, step: 'shipped' });
    expect(events('A1')).toEqual(['reserved', 'charged', 'shipped']);
  });

  test('an order with a missing item is undone in reverse order', async () => {
    const handle = await start(worker(), 'OrderWorkflow', ['A2', 1999, ['book', 'out-of-stock']]);
    const error = await handle.result().catch((thrown: any) => thrown);
    expect(error.cause.cause).toMatchObject({
      type: 'OutOfStock',
      message: 'an item is missing from its shelf',
    });
    expect(events('A2')).toEqual(['reserved', 'charged', 'refunded', 'released']);
  });

  test('a cancelled order is undone', async () => {
    const handle = await start(worker(), 'OrderWorkflow', ['A3', 1999, ['book']]);
    await answer<any>(handle, 'getProgress', ({ done }) => done >= 1);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow('Workflow execution cancelled');
    expect(await statusOf(handle)).toBe('CANCELLED');
    expect(events('A3')).toContain('reserved');
    expect(events('A3').at(-1)).toBe('released');
  });

  test('a refund is paid once somebody approves', async () => {
    const handle = await start(worker(), 'RefundWorkflow', ['A1', 1000]);
    expect(await answer<any>(handle, 'pendingApproval', Boolean)).toEqual({
      id: 'refund-A1',
      prompt: 'Refund 10.00 for order A1?',
    });
    await handle.executeUpdate('approve', { args: [true, 'broken'] });
    expect(await handle.result()).toEqual({
      orderId: 'A1',
      approved: true,
      refunded: 1000,
      comment: 'broken',
    });
    // Go's nil has an encoding of its own, which arrives as undefined.
    expect(await handle.query('pendingApproval')).toBeUndefined();
    expect(events('A1').at(-1)).toBe('refunded');
  });

  test('its own tests pass', async () => {
    await runTool('go', ['test', './...'], join(EXAMPLES, 'go'));
  });
});

describe('reviews in Python', () => {
  const worker = withWorker('python');
  const document = { title: 'Draft', text: 'We utilize the the tool. It works.' };

  test('a review runs again with a comment, and ends with a verdict', async () => {
    const handle = await start(worker(), 'ReviewDocument', [document]);
    const [first] = await answer<any[]>(handle, 'open_questions', ({ length }) => length > 0);
    expect(first).toEqual({
      id: 'round-1',
      question: '"Draft" has 2 findings. Publish it?',
      options: ['approve', 'reject', 'revise'],
    });
    expect(await handle.query('status')).toEqual({ percent: 30, stage: 'waiting for a decision, round 1' });
    await handle.signal('decide', { verdict: 'revise', comment: 'less "utilize"' });
    await answer<any[]>(handle, 'open_questions', ([question]) => question?.id === 'round-2');
    await handle.signal('decide', { verdict: 'approve', comment: '' });
    expect(await handle.result()).toEqual({
      verdict: 'approve',
      rounds: 2,
      findings: [
        { kind: 'length', message: '7 words in 2 sentences' },
        { kind: 'repeated-word', message: 'the the' },
        { kind: 'term', message: '"utilize" is used 1 times' },
      ],
    });
    expect(await handle.query('status')).toEqual({ percent: 100, stage: 'finished' });
  });

  test('a cancelled review completes as withdrawn', async () => {
    const handle = await start(worker(), 'ReviewDocument', [document]);
    await answer<any[]>(handle, 'open_questions', ({ length }) => length > 0);
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ verdict: 'withdrawn', rounds: 1 });
    expect(await statusOf(handle)).toBe('COMPLETED');
  });

  test('its own tests pass', async () => {
    const python = join(await pythonFolder(), 'python');
    const output = await runTool(python, ['-B', '-m', 'unittest'], join(EXAMPLES, 'python'));
    expect(output).toMatch(/Ran \d+ tests/);
  });
});

describe('reviews in Python that nobody decides', () => {
  const worker = withWorker('python', { DECISION_SECONDS: '0.5' });

  test('expire', async () => {
    const handle = await start(worker(), 'ReviewDocument', [{ title: 'Draft', text: 'It works.' }]);
    expect(await handle.result()).toMatchObject({ verdict: 'expired', rounds: 1 });
  });
});

describe('imports in Java', () => {
  const worker = withWorker('java');

  function writeRows(name: string, rows: string[]): string {
    const source = join(worker().folder, name);
    writeFileSync(source, ['id,email,amount', ...rows, ''].join('\n'));
    return source;
  }

  /** Heartbeat of the running attempt. */
  async function heartbeat(
    handle: WorkflowHandle,
  ): Promise<{ rows: number; total: number; attempt: number }> {
    return eventually('the import heartbeats', async () => {
      const [activity] = (await handle.describe()).raw.pendingActivities ?? [];
      const payloads = activity?.heartbeatDetails?.payloads;
      const { loadedDataConverter } = client.options;
      const details = await decodeFromPayloadsAtIndex<any>(loadedDataConverter, 0, payloads);
      return details && { ...details, attempt: activity!.attempt };
    });
  }

  test('an import rejects invalid rows', async () => {
    const rows = ['1,a@example.com,9.50', '2,nobody,3', '3,c@example.com,7', '4,d@example.com'];
    const request = { source: writeRows('few.csv', rows), chunkSize: 3 };
    const handle = await start(worker(), 'ImportBatch', [request]);
    expect(await handle.result()).toEqual({
      ...{ imported: 2, rejected: 2, rejectedLines: [3, 5] },
      cancelled: false,
    });
    expect(readFileSync(worker().imported(handle.workflowId), 'utf8')).toBe(`${rows[0]}\n${rows[2]}\n`);
  });

  test('an import continues after kill -9, and its activity completes with its rows when it is cancelled', async () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => `${index},user${index}@example.com,1.25`);
    const request = { source: writeRows('many.csv', rows), chunkSize: 10 };
    const handle = await start(worker(), 'ImportBatch', [request]);
    const before = await heartbeat(handle);
    expect(before).toMatchObject({ total: 10_000, attempt: 1 });
    kill(worker().pid!);
    await worker().restart();
    const after = await eventually('a second attempt has got further', async () => {
      const now = await heartbeat(handle);
      return now.attempt > 1 && now.rows > before.rows + 10 ? now : undefined;
    });
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow('Workflow execution cancelled');
    const { events } = await handle.fetchHistory();
    const ended = events!.find((event) => event.activityTaskCompletedEventAttributes);
    const payloads = ended?.activityTaskCompletedEventAttributes?.result?.payloads;
    const result = await decodeFromPayloadsAtIndex<any>(client.options.loadedDataConverter, 0, payloads);
    expect(result).toEqual({ imported: expect.any(Number), rejected: 0, rejectedLines: [], cancelled: true });
    expect(result.imported).toBeGreaterThanOrEqual(after.rows);
    expect(result.imported).toBeLessThan(rows.length);
    const imported = readFileSync(worker().imported(handle.workflowId), 'utf8').trimEnd().split('\n');
    expect(imported).toEqual(rows.slice(0, result.imported));
  });
});
