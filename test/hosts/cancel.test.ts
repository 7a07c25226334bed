/** Ends of many children side by side: on a host that is gone, and on one that is busy. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ANONYMOUS } from '../../operations/wire/index.js';
import { parsePipeline } from '../../pipelines/parse.js';
import { pipelineTool } from '../../pipelines/tool.js';
import { openStorage } from '../../platform/storage/index.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { afterAllTests, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { STACK_MS } from '../support/limits.js';
import { Hosts, SECRET, type TestHost } from './support.js';

const PIPELINE = `
inputs:
  properties: { ledger: { type: string }, items: { type: array, items: { type: number } } }
  required: [ledger, items]
concurrency: 100
jobs:
  work:
    for-each: items
    steps:
      - { name: open, idempotent: true, run: 'true' }
      - { name: ask, approval: { message: 'Continue?' } }
      - { name: tidy, if: always, run: 'sleep 4; echo tidy >> "$INPUT_LEDGER"' }
`;

const added: Record<string, TestHost> = {};

const hosts = await forAllTests(Hosts.start({ asked: PIPELINE }));
const storage = openStorage({ home: join(hosts.root, 'server') });
const engine = await inSetUp(connectEngine(hosts.parts.taskQueue, { secret: SECRET, storage }));
added['first'] = await inSetUp(hosts.add('first'));
afterAllTests(() => engine.temporal.close());

/**
 * Starts children that each have a workspace on the host, and all ask.
 *
 * @param cleanupSeconds budget for the end, in place of the 15 minutes of this pipeline; a step waits a quarter of it in the queue
 */
async function asking(ledger: string, count: number, cleanupSeconds: number): Promise<string> {
  const { value: pipeline } = parsePipeline(PIPELINE, 'asked.yml');
  const tool = { ...pipelineTool(pipeline!), cleanupSeconds };
  const items = Array.from({ length: count }, (_, at) => at);
  const { token } = await engine.start(ANONYMOUS, tool, { ledger: hosts.ledger(ledger), items });
  await eventually(
    'all ask',
    async () => Object.keys((await engine.read(ANONYMOUS, token)).inputRequests).length === count,
    STACK_MS,
  );
  return token;
}

/** Cancels, and waits for the end: ends one after the other would outlast the wait. */
async function canceled(token: string) {
  await engine.cancel(ANONYMOUS, token);
  return eventually(
    'it has ended',
    async () => {
      const read = await engine.read(ANONYMOUS, token);
      return read.closedAt ? read : undefined;
    },
    STACK_MS,
  );
}

test('the last steps of more children than the host runs at once all run, though they wait in its queue', async () => {
  // 48 steps of 4 s, 8 at once: longer than a step waits in the queue before its host's presence is checked.
  const record = await canceled(await asking('busy', 48, 80));
  expect(record.status).toBe('canceled');
  expect(hosts.lines('busy')).toHaveLength(48);
});

test('a hundred children on a host that is gone end side by side', async () => {
  const token = await asking('gone', 100, 40);
  await hosts.add('second');
  await added['first']!.worker.end('SIGKILL');
  const record = await canceled(token);
  expect(record.status).toBe('canceled');
  expect(record.children).toHaveLength(100);
  expect(new Set(record.children!.map(({ status }) => status))).toEqual(new Set(['canceled']));
  expect(hosts.lines('gone')).toEqual([]);
});
