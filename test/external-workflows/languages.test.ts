/** Workflows in Go, Java and Python whose authors don't know Longhaul, through every protocol, by the files of examples/bring-your-own. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { INSTALL_MS } from '../support/limits.js';
import { protocolClients, untilOver, untilReading, type ProtocolClient } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';
import { projectOf } from './support.js';
import { ExternalWorker } from './workers.js';

jest.setTimeout(INSTALL_MS);

const TOOLS = 'examples/bring-your-own/tools';
const QUEUES = { go: 'orders', java: 'imports', python: 'reviews' } as const;

let parts: TestStack;
const workers: ExternalWorker[] = [];
let clients: ProtocolClient[];
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
  clients = protocolClients(parts.base);
  rows = join(java!.folder, 'rows.csv');
  const lines = Array.from({ length: 400 }, (_, index) => `${index},user${index}@example.com,1.50`);
  writeFileSync(rows, ['id,email,amount', ...lines, 'x,nobody,3', ''].join('\n'));
}, INSTALL_MS);
afterAll(async () => {
  await Promise.all((clients ?? []).map(async (client) => client.close?.()));
  await parts?.stop();
  await Promise.all(workers.map((worker) => worker.stop()));
});

const asked = (client: ProtocolClient, token: string, before: readonly string[] = []) =>
  untilReading(client, 'it asks', token, ({ questions }) =>
    questions.some(({ key }) => !before.includes(key)),
  );

/** Every client does the same at once. */
const everyClient = (work: (client: ProtocolClient) => Promise<void>) => Promise.all(clients.map(work));

test('Go: an order is shipped, with its stages; a refund waits for an approval', async () => {
  await everyClient(async (client) => {
    const order = { order_id: `A-${randomUUID().slice(0, 8)}`, amount_cents: 1999 };
    const key = randomUUID();
    const token = await client.start('order_items', { ...order, items: ['book'] }, key);
    expect(await client.start('order_items', { ...order, items: ['book'] }, key)).toBe(token);
    await untilReading(
      client,
      'it has a stage',
      token,
      ({ raw, isOver }) => isOver || /stock|payment|shipping/.test(JSON.stringify(raw)),
    );
    expect((await untilOver(client, token)).result).toMatchObject({ orderId: order.order_id, charged: 1999 });

    const refund = await client.start('refund_order', order, randomUUID());
    const { questions } = await asked(client, refund);
    expect(questions).toMatchObject([{ message: `Refund 19.99 for order ${order.order_id}?` }]);
    await client.answer(refund, questions[0]!.key, { approved: true, comment: 'broken' });
    const { result } = await untilOver(client, refund);
    expect(result).toMatchObject({ approved: true, refunded: 1999, comment: 'broken' });
  });
});

test('Go: a declined refund, and an order that fails, end as they should', async () => {
  await everyClient(async (client) => {
    const order = { order_id: `B-${randomUUID().slice(0, 8)}`, amount_cents: 500 };
    const refund = await client.start('refund_order', order, randomUUID());
    const { questions } = await asked(client, refund);
    await client.answer(refund, questions[0]!.key, 'decline');
    expect((await untilOver(client, refund)).result).toMatchObject({ approved: false, comment: 'declined' });
    const token = await client.start('order_items', { ...order, items: ['out-of-stock'] }, randomUUID());
    const { states, raw } = await untilOver(client, token);
    expect([client.name, states]).toEqual([client.name, expect.arrayContaining(['failed'])]);
    expect(JSON.stringify(raw)).toContain('an item is missing from its shelf');
  });
});

test('Python: a review is revised, then approved', async () => {
  await everyClient(async (client) => {
    const document = { title: 'Draft', text: 'We utilize the the tool.' };
    const token = await client.start('review_document', document, randomUUID());
    const { questions } = await asked(client, token);
    const [first] = questions;
    expect(first).toMatchObject({ key: 'round-1', message: expect.stringContaining('"Draft" has') });
    await client.answer(token, first!.key, { verdict: 'revise', comment: 'Less "utilize"' });
    const again = await asked(client, token, [first!.key]);
    const key = again.questions.find((one) => one.key !== first!.key)!.key;
    await client.answer(token, key, { verdict: 'approve' });
    const { result } = await untilOver(client, token);
    expect(result).toMatchObject({ verdict: 'approve', rounds: 2, findings: expect.any(Array) });
  });
});

test('Java: heartbeats are the progress of an import, which is cancelled', async () => {
  await everyClient(async (client) => {
    const token = await client.start('import_batch', { source: rows, chunk_size: 2 }, randomUUID());
    await untilReading(
      client,
      'it has progress',
      token,
      ({ progress, share, raw }) =>
        // Tasks of 2025-11-25 have it in their message alone.
        (progress?.progress ?? share ?? 0) > 0 || /\d+ of 401/.test(JSON.stringify(raw)),
    );
    await client.cancel(token);
    const { states } = await untilOver(client, token);
    expect([client.name, states]).toEqual([client.name, expect.arrayContaining(['canceled'])]);
  });
  const [client] = clients as [ProtocolClient];
  const token = await client.start('import_batch', { source: rows, chunk_size: 1000 }, randomUUID());
  expect((await untilOver(client, token)).result).toMatchObject({ imported: 400, rejected: 1 });
});

test('Python: a review that is withdrawn completes after the cancel', async () => {
  await everyClient(async (client) => {
    const token = await client.start('review_document', { title: 'T', text: 'Text.' }, randomUUID());
    await asked(client, token);
    await client.cancel(token);
    const { states, result } = await untilOver(client, token);
    const isFinal = states.includes('canceled');
    expect([client.name, isFinal || states.includes('completed')]).toEqual([client.name, true]);
    if (!isFinal) expect(result).toMatchObject({ verdict: 'withdrawn' });
  });
});
