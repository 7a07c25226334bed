/** `longhaul discover` on a namespace with workers in Go, Java and Python: what it writes works as it is. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { run } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { INSTALL_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { plainClient } from '../support/protocols/plain.js';
import { untilOver, untilReading } from '../support/protocols/index.js';
import { stateless } from '../support/protocols/rpc.js';
import { TestStack } from '../support/test-stack.js';
import { ExternalWorker } from './workers.js';

jest.setTimeout(INSTALL_MS);

const DOCUMENT = { title: 'Draft', text: 'We utilize the the tool.' };
let namespace: string;
let project: string;
let workers: ExternalWorker[] = [];
let parts: TestStack;
let temporal: Client;

beforeAll(async () => {
  namespace = await newNamespace('discovered');
  project = mkdtempSync(join(tmpdir(), 'longhaul-discovered-'));
  const environment = { TEMPORAL_NAMESPACE: namespace };
  [parts, ...workers] = await Promise.all([
    // Its own namespace, whose only runs are those to discover.
    TestStack.start({ ...environment, LONGHAUL_PROJECT: project }),
    ExternalWorker.start('go', { taskQueue: 'orders', environment }),
    ExternalWorker.start('java', { taskQueue: 'imports', environment }),
    ExternalWorker.start('python', { taskQueue: 'reviews', environment }),
  ]);
  temporal = await parts.temporal(namespace);
}, INSTALL_MS);
afterAll(async () => {
  await Promise.all([parts?.stop(), ...workers.map((worker) => worker.stop())]);
});

const start = (type: string, taskQueue: string, ...args: unknown[]) =>
  temporal.workflow.start(type, { workflowId: `by-hand-${randomUUID()}`, taskQueue, args });

/** A finished and an open run of each type, as people have them. */
async function runByHand(rows: string): Promise<void> {
  const order = await start('OrderWorkflow', 'orders', 'A1', 1999, ['book']);
  await order.result();
  const refunds = [
    await start('RefundWorkflow', 'orders', 'A1', 500),
    await start('RefundWorkflow', 'orders', 'A1', 700),
  ];
  await refunds[0]!.executeUpdate('approve', { args: [true, 'broken'] });
  const reviews = [
    await start('ReviewDocument', 'reviews', DOCUMENT),
    await start('ReviewDocument', 'reviews', DOCUMENT),
  ];
  await eventually('it asks', async () => (await reviews[0]!.query<unknown[]>('open_questions')).length > 0);
  await reviews[0]!.signal('decide', { verdict: 'approve', comment: '' });
  const batch = await start('ImportBatch', 'imports', { source: rows, chunkSize: 100 });
  await Promise.all([refunds[0]!.result(), reviews[0]!.result(), batch.result()]);
  await start('OrderWorkflow', 'orders', 'A2', 1999, ['book', 'pen']);
  await eventually(
    'visibility has them',
    async () => Number((await temporal.workflow.count('ExecutionStatus = "Completed"')).count) >= 4,
  );
}

test('its drafts are valid, and serve the three workers as they are', async () => {
  const rows = join(project, 'rows.csv');
  writeFileSync(rows, 'id,email,amount\n1,a@example.com,9.50\n2,nobody,3\n');
  await runByHand(rows);
  const tools = join(project, 'tools');
  const environment = { TEMPORAL_NAMESPACE: namespace, LONGHAUL_PROJECT: project };
  const found = await run(parts, ['discover', '--yes', '--query', '--output', tools], { environment });
  expect([found.code, found.stderr]).toEqual([0, expect.any(String)]);
  const checked = await run(parts, ['check', tools], { environment });
  expect([checked.code, checked.stdout.match(/ok, tool \w+/g)]).toEqual([
    0,
    ['import_batch', 'order', 'refund', 'review_document'].map((name) => `ok, tool ${name}`),
  ]);

  const client = plainClient(stateless(`${parts.base}/mcp`, {}));
  const ended = (token: string) => untilOver(client, token);
  // The server reads the folder again.
  const order = await eventually('the server has the drafts', () =>
    client.start('order', { arg1: 'A3', arg2: 1200, arg3: ['cup'] }, randomUUID()).catch(() => undefined),
  );
  expect((await ended(order)).result).toMatchObject({ orderId: 'A3', charged: 1200 });
  const batch = await client.start('import_batch', { source: rows, chunkSize: 1 }, randomUUID());
  expect((await ended(batch)).result).toMatchObject({ imported: 1, rejected: 1 });

  const refund = await client.start('refund', { arg1: 'A3', arg2: 1200 }, randomUUID());
  const asked = await untilReading(client, 'it asks', refund, ({ questions }) => questions.length > 0);
  await client.answer(refund, asked.questions[0]!.key, { approved: true, arg2: 'broken' });
  expect((await ended(refund)).result).toMatchObject({ approved: true, refunded: 1200 });

  const review = await client.start('review_document', DOCUMENT, randomUUID());
  const { questions } = await untilReading(
    client,
    'it asks',
    review,
    (reading) => reading.questions.length > 0,
  );
  await client.answer(review, questions[0]!.key, { verdict: 'approve', comment: '' });
  expect((await ended(review)).result).toMatchObject({ verdict: 'approve' });
});
