/** Workflows in Go, Java and Python whose authors don't know Longhaul, by the files of examples/bring-your-own, and drafts of them. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { documents, run } from '../cli/commands.js';
import { eventually, kill } from '../stack/cli-process.js';
import { INSTALL_MS } from '../support/limits.js';
import { untilOver, untilReading, type ProtocolClient } from '../support/protocols/index.js';
import { plainClient } from '../support/protocols/plain.js';
import { stateless } from '../support/protocols/rpc.js';
import { runTool } from '../support/run-tool.js';
import { TestStack } from '../support/test-stack.js';
import { projectOf } from './support.js';
import { ExternalWorker, pythonFolder } from './workers.js';

jest.setTimeout(INSTALL_MS);

const EXAMPLES = resolve('examples/bring-your-own');
const TOOLS = join(EXAMPLES, 'tools');
const QUEUES = { go: 'orders', java: 'imports', python: 'reviews' } as const;
const DOCUMENT = { title: 'Draft', text: 'We utilize the the tool.' };

let parts: TestStack;
const workers: ExternalWorker[] = [];
let client: ProtocolClient;
let rows: string;

beforeAll(async () => {
  const [go, java, python] = await Promise.all(
    (['go', 'java', 'python'] as const).map((name) => ExternalWorker.start(name)),
  );
  workers.push(go!, java!, python!);
  const queues: Record<string, ExternalWorker> = {
    [QUEUES.go]: go!,
    [QUEUES.java]: java!,
    [QUEUES.python]: python!,
  };
  // As they are, but for the task queues, which are the test's own.
  const tools = readdirSync(TOOLS).map((name) => [
    name,
    readFileSync(join(TOOLS, name), 'utf8').replace(
      /task-queue: (\w+)/,
      (_all, queue: string) => `task-queue: ${queues[queue]!.taskQueue}`,
    ),
  ]);
  parts = await TestStack.serverOnSharedWorker({ LONGHAUL_PROJECT: projectOf(Object.fromEntries(tools)) });
  client = plainClient(stateless(`${parts.base}/mcp`, {}));
  rows = join(java!.folder, 'rows.csv');
  const lines = Array.from({ length: 400 }, (_, index) => `${index},user${index}@example.com,1.50`);
  writeFileSync(rows, ['id,email,amount', ...lines, 'x,nobody,3', ''].join('\n'));
}, INSTALL_MS);
afterAll(async () => {
  await parts?.stop();
  await Promise.all(workers.map((worker) => worker.stop()));
});

const start = (tool: string, args: object, key = randomUUID()) => client.start(tool, args, key);
const ended = (token: string) => untilOver(client, token);
const asked = (token: string, before: readonly string[] = []) =>
  untilReading(client, 'it asks', token, ({ questions }) =>
    questions.some(({ key }) => !before.includes(key)),
  );

test('Go: an order is shipped, with its stages, or fails; a refund is approved or declined', async () => {
  const order = { order_id: `A-${randomUUID().slice(0, 8)}`, amount_cents: 1999 };
  const key = randomUUID();
  const token = await start('order_items', { ...order, items: ['book'] }, key);
  expect(await start('order_items', { ...order, items: ['book'] }, key)).toBe(token);
  await untilReading(
    client,
    'it has a stage',
    token,
    ({ raw, isOver }) => isOver || /stock|payment|shipping/.test(JSON.stringify(raw)),
  );
  expect((await ended(token)).result).toMatchObject({ orderId: order.order_id, charged: 1999 });
  const missing = { order_id: `B-${order.order_id}`, amount_cents: 500 };
  const { states, raw } = await ended(await start('order_items', { ...missing, items: ['out-of-stock'] }));
  expect(states).toEqual(['failed']);
  expect(JSON.stringify(raw)).toContain('an item is missing from its shelf');

  const refund = await start('refund_order', order);
  const { questions } = await asked(refund);
  expect(questions).toMatchObject([{ message: `Refund 19.99 for order ${order.order_id}?` }]);
  await client.answer(refund, questions[0]!.key, { approved: true, comment: 'broken' });
  expect((await ended(refund)).result).toMatchObject({ approved: true, refunded: 1999, comment: 'broken' });
  const declined = await start('refund_order', missing);
  await client.answer(declined, (await asked(declined)).questions[0]!.key, 'decline');
  expect((await ended(declined)).result).toMatchObject({ approved: false, comment: 'declined' });
});

test('Python: a review is revised, then approved; one that is withdrawn completes after the cancel', async () => {
  const token = await start('review_document', DOCUMENT);
  const { questions } = await asked(token);
  const [first] = questions;
  expect(first).toMatchObject({ key: 'round-1', message: expect.stringContaining('"Draft" has') });
  await client.answer(token, first!.key, { verdict: 'revise', comment: 'Less "utilize"' });
  const again = await asked(token, [first!.key]);
  const key = again.questions.find((one) => one.key !== first!.key)!.key;
  await client.answer(token, key, { verdict: 'approve' });
  const { result } = await ended(token);
  expect(result).toMatchObject({ verdict: 'approve', rounds: 2, findings: expect.any(Array) });

  const withdrawn = await start('review_document', { title: 'T', text: 'Text.' });
  await asked(withdrawn);
  await client.cancel(withdrawn);
  expect(await ended(withdrawn)).toMatchObject({ states: ['completed'], result: { verdict: 'withdrawn' } });
});

test('Java: heartbeats are the progress of an import, which continues after kill -9 of its worker, and is cancelled', async () => {
  const [, java] = workers as [ExternalWorker, ExternalWorker];
  const token = await start('import_batch', { source: rows, chunk_size: 2 });
  const beyond = (row: number) =>
    untilReading(client, `it is beyond row ${row}`, token, ({ progress }) => (progress?.progress ?? 0) > row);
  const { progress } = await beyond(0);
  kill(java.pid!);
  await java.restart();
  await beyond(progress!.progress + 4);
  await client.cancel(token);
  expect((await ended(token)).states).toEqual(['canceled']);
  const imported = readFileSync(java.imported(token), 'utf8').trimEnd().split('\n');
  expect(new Set(imported).size).toBe(imported.length);
  const whole = await start('import_batch', { source: rows, chunk_size: 1000 });
  expect((await ended(whole)).result).toMatchObject({ imported: 400, rejected: 1 });
});

test('drafts that discover makes of their runs have the inputs, progress and questions of each', async () => {
  const { workflow } = await parts.temporal();
  const [go, java, python] = workers as [ExternalWorker, ExternalWorker, ExternalWorker];
  const byHand = (type: string, { taskQueue }: ExternalWorker, ...args: unknown[]) =>
    workflow.start(type, { workflowId: `by-hand-${randomUUID()}`, taskQueue, args });
  const refund = await byHand('RefundWorkflow', go, 'A1', 500);
  await refund.executeUpdate('approve', { args: [true, 'broken'] });
  const review = await byHand('ReviewDocument', python, DOCUMENT);
  await eventually('it asks', async () => (await review.query<unknown[]>('open_questions')).length > 0);
  await review.signal('decide', { verdict: 'approve', comment: '' });
  const batch = await byHand('ImportBatch', java, { source: rows, chunkSize: 100 });
  await Promise.all([refund, review, batch].map((handle) => handle.result()));
  // Queries are known from a worker that has an open run.
  const open = [
    await byHand('RefundWorkflow', go, 'A1', 700),
    await byHand('ReviewDocument', python, DOCUMENT),
  ];
  const project = mkdtempSync(join(tmpdir(), 'longhaul-discovered-'));
  const folder = join(project, 'tools');
  const discovered = async ({ taskQueue }: ExternalWorker, tool: string): Promise<string> => {
    const words = ['--project', project, '--task-queue', taskQueue, '--yes', '--query', '--output', folder];
    await eventually(`${tool} is drafted`, async () => {
      const found = await run(parts, ['discover', ...words, '--force', '--json']);
      const [document] = found.code === 0 ? documents<any>(found) : [];
      return document?.drafts.some((draft: { tool: string }) => draft.tool === tool);
    });
    return readFileSync(join(folder, `${tool}.yaml`), 'utf8');
  };
  expect(await discovered(go, 'refund')).toMatch(/question:\n +query: pendingApproval/);
  expect(await discovered(python, 'review_document')).toMatch(/question:\n +query: open_questions/);
  expect(await discovered(java, 'import_batch')).toMatch(/chunkSize: \{ type: integer \}/);
  await Promise.all(open.map((handle) => handle.terminate()));
  const checked = await run(parts, ['check', folder]);
  expect([checked.code, checked.stdout.match(/ok, tool \w+/g)?.sort()]).toEqual([
    0,
    ['import_batch', 'refund', 'review_document'].map((name) => `ok, tool ${name}`),
  ]);
});

test("the workers' own tests in Go and Python pass", async () => {
  await runTool('go', ['test', './...'], join(EXAMPLES, 'go'));
  const python = join(await pythonFolder(), 'python');
  const output = await runTool(python, ['-B', '-m', 'unittest'], join(EXAMPLES, 'python'));
  expect(output).toMatch(/Ran \d+ tests/);
});
