/**
 * Histories of a queue and of operations that waited in it replay with the code of today: live ones, and recorded ones of earlier
 * code; `LONGHAUL_RECORD=1` writes them again.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Runtime, Worker } from '@temporalio/worker';
import { queueWorkflowId } from '../../operations/queue-wire.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);

const RECORDED = resolve('test/histories');
const PROJECT = resolve('test/fair/project');
const folder = mkdtempSync(join(tmpdir(), 'longhaul-fair-'));
let stack: TestStack;
let codePath: string;

beforeAll(async () => {
  Runtime.install({
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    shutdownSignals: [],
  });
  stack = await TestStack.start({ LONGHAUL_PROJECT: PROJECT });
  const built = (name: string) => import(resolve('dist', name));
  const { loadSettings } = await built('platform/config.js');
  const { workflowBundle } = await built('worker/bundle.js');
  codePath = await workflowBundle(await loadSettings({ project: PROJECT }));
});
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const replay = (name: string, history: object) =>
  Worker.runReplayHistory({ workflowBundle: { codePath } }, history, name);

async function expectReplay(name: string, workflowId: string): Promise<void> {
  const history = await (await stack.temporal()).workflow.getHandle(workflowId).fetchHistory();
  await replay(workflowId, history);
  const path = join(RECORDED, `${name}.json`);
  if (process.env['LONGHAUL_RECORD']) writeFileSync(path, historyToJSON(history));
  await replay(`recorded-${name}`, JSON.parse(readFileSync(path, 'utf8')));
}

test('a queue, an operation that had its turn after a wait, and one that was cancelled before', async () => {
  const { client } = stack;
  const start = (name: string) => client.start('brush', { folder, name });
  const held = await start('held');
  await client.until(held, ({ statusMessage }) => !/turn/.test(statusMessage ?? 'turn'));
  const waiting = await start('waiting');
  const canceled = await start('canceled');
  await client.until(canceled, ({ statusMessage }) => /1 before it/.test(statusMessage ?? ''));
  await client.request('tasks/cancel', { taskId: canceled });
  await client.until(canceled, 'cancelled');
  writeFileSync(join(folder, 'release'), '');
  for (const token of [held, waiting]) await client.until(token, 'completed');
  await expectReplay('queue', queueWorkflowId(stack.taskQueue, 'easel'));
  await expectReplay('queued-completed', waiting);
  await expectReplay('queued-canceled', canceled);
  expect((await client.get(waiting)).status).toBe('completed');
});
