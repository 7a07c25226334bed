/** The workers of examples/bring-your-own do what their READMEs say, without Longhaul. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Client, type Connection, type WorkflowHandle } from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { eventually, kill } from '../stack/cli-process.js';
import { INSTALL_MS, PROCESSES_MS } from '../support/limits.js';
import { connectToTemporal } from '../support/run-temporal.js';
import { runTool } from '../support/run-tool.js';
import { ExternalWorker, prepareWorker, pythonFolder, type WorkerName } from './workers.js';

const EXAMPLES = resolve('examples/bring-your-own');

jest.setTimeout(PROCESSES_MS);

let connection: Connection;
let client: Client;
const start = (
  { taskQueue }: ExternalWorker,
  type: string,
  args: unknown[],
): Promise<WorkflowHandle> =>
  client.workflow.start(type, { taskQueue, workflowId: `external-${randomUUID()}`, args });

beforeAll(async () => {
  connection = await connectToTemporal();
  client = new Client({ connection });
  const names: WorkerName[] = ['go', 'java', 'python'];
  const outcomes = await Promise.allSettled(names.map(prepareWorker));
  // All of them have ended, so that a failed one leaves no build behind.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}, INSTALL_MS);

afterAll(() => connection.close());

test('the tests of the workers in Go and Python pass', async () => {
  await runTool('go', ['test', './...'], join(EXAMPLES, 'go'));
  const python = join(await pythonFolder(), 'python');
  const output = await runTool(python, ['-B', '-m', 'unittest'], join(EXAMPLES, 'python'));
  expect(output).toMatch(/Ran \d+ tests/);
});

test('a review in Python that nobody decides expires', async () => {
  const worker = await ExternalWorker.start('python', { environment: { DECISION_SECONDS: '0.5' } });
  try {
    const handle = await start(worker, 'ReviewDocument', [{ title: 'Draft', text: 'It works.' }]);
    expect(await handle.result()).toMatchObject({ verdict: 'expired', rounds: 1 });
  } finally {
    await worker.stop();
  }
});

describe('imports in Java', () => {
  let worker: ExternalWorker;
  beforeAll(async () => {
    worker = await ExternalWorker.start('java');
  });
  afterAll(() => worker?.stop());

  function writeRows(name: string, rows: string[]): string {
    const source = join(worker.folder, name);
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

  test('an import continues after kill -9, and its activity completes with its rows when it is cancelled', async () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => `${index},user${index}@example.com,1.25`);
    const request = { source: writeRows('many.csv', rows), chunkSize: 10 };
    const handle = await start(worker, 'ImportBatch', [request]);
    const before = await heartbeat(handle);
    expect(before).toMatchObject({ total: 10_000, attempt: 1 });
    kill(worker.pid!);
    await worker.restart();
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
    const imported = readFileSync(worker.imported(handle.workflowId), 'utf8').trimEnd().split('\n');
    expect(imported).toEqual(rows.slice(0, result.imported));
  });
});
