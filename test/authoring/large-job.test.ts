/** The second tool of docs/writing-a-tool.md, with thousands of rows, a service that fails, and a worker that is killed. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { INSTALL_MS, OUTAGE_MS, PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { Reader } from './reader.js';

jest.setTimeout(INSTALL_MS);
const ROWS = 6_000;
/** Rows without an ID, both in the third batch. */
const WRONG = [1_234, 1_300];

let reader: Reader;
let service: Server;
/** ID -> how often it was sent with success. */
const sent = new Map<string, number>();
let refusals = 0;

beforeAll(async () => {
  service = createServer((request, response) => {
    const id = request.url!.split('/').at(-1)!;
    request.resume().on('end', () => {
      // Each 700th order is refused when it comes first.
      const isRefused =
        Number(id.slice(1)) % 700 === 0 && !sent.has(id) && (refusals += 1) && sent.set(id, 0);
      if (!isRefused) sent.set(id, (sent.get(id) ?? 0) + 1);
      response.writeHead(isRefused ? 503 : 204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  reader = await Reader.start();
}, PROCESSES_MS);
afterAll(async () => {
  await reader?.stop();
  service.closeAllConnections();
  service.close();
});

const count = () => [...sent.values()].filter((times) => times > 0).length;

test('a job of thousands of rows runs through kill -9 of its worker, and shows its progress all along', async () => {
  const { client } = reader;
  const path = join(reader.root, 'orders.ndjson');
  const lines = Array.from({ length: ROWS }, (_, index) =>
    JSON.stringify(WRONG.includes(index + 1) ? { total: 1 } : { id: `o${index + 1}`, total: index }),
  );
  writeFileSync(path, `${lines.join('\n')}\n`);
  const address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const token = await client.start('import_orders', { path, service: address });

  // All readings, to the end.
  const seen: { progress: number; total?: number }[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const task = await client.get(token);
      const { progress, total } = task._meta['longhaul/progress'] ?? {};
      // The service has got what is counted, except for what has no ID.
      if (progress !== undefined) seen.push({ progress, total });
      expect(progress ?? 0).toBeLessThanOrEqual(count() + WRONG.length);
      await new Promise((settle) => setTimeout(settle, 100));
    }
  })();

  const asking = await client.until(token, 'input_required');
  expect(Object.keys(asking.inputRequests)).toEqual(['rows-1001-1500/input-1']);
  expect(asking.inputRequests['rows-1001-1500/input-1'].params.message).toBe(
    'Rows 1234, 1300 have no ID. Leave them out?',
  );
  await client.until(token, (task) => task._meta['longhaul/progress'].progress === 1_500, PROCESSES_MS);
  await client.answer(token, 'rows-1001-1500/input-1', { action: 'accept', content: { skip: true } });

  await eventually('it is in its second run', () => count() > 4_200, STACK_MS);
  reader.worker.kill('SIGKILL');
  await once(reader.worker, 'close');
  const atKill = count();
  reader.spawn('worker');

  const done = await client.until(token, 'completed', OUTAGE_MS);
  isOver = true;
  await watching;
  expect(atKill).toBeLessThan(ROWS - WRONG.length);
  expect(done.result.structuredContent).toEqual({
    sent: ROWS - WRONG.length,
    leftOut: WRONG.length,
    list: `longhaul://operations/${token}/artifacts/left-out.txt`,
  });
  expect(count()).toBe(ROWS - WRONG.length);
  expect(refusals).toBe(Math.floor(ROWS / 700));
  expect(seen.map(({ progress }) => progress)).toEqual(
    seen.map(({ progress }) => progress).sort((a, b) => a - b),
  );
  expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([ROWS]));
  expect(done._meta['longhaul/progress']).toMatchObject({ progress: ROWS, total: ROWS });

  expect(await reader.longhaul('get', token, 'left-out.txt')).toBe(WRONG.join('\n'));
  const log = (await reader.longhaul('logs', token)).split('\n');
  expect(log.filter((line) => line.includes('batch sent'))).toHaveLength(ROWS / 500);
  expect(log.some((line) => line.includes('continues after an earlier attempt'))).toBe(true);
});
