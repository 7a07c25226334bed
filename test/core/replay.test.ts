/**
 * Histories of earlier runs must replay: a worker that takes over an operation replays its history, with the current code. The
 * recorded histories are those of earlier code; `LONGHAUL_RECORD=1` writes them again.
 */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FIXTURES, TestStack } from '../support/test-stack.js';

const RECORDED = resolve('test/histories');
let parts: TestStack;
let codePath: string;

beforeAll(async () => {
  Runtime.install({
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    shutdownSignals: [],
  });
  parts = await TestStack.start();
  // The built code, as the workers of this run bundle it.
  const built = (name: string) => import(resolve('dist', name));
  const { loadSettings } = await built('platform/config.js');
  const { workflowBundle } = await built('worker/bundle.js');
  codePath = await workflowBundle(await loadSettings({ project: FIXTURES }));
});
afterAll(() => parts?.stop());

const replay = (name: string, history: object) =>
  Worker.runReplayHistory({ workflowBundle: { codePath } }, history, name);

/** Runs an operation of each kind to its end. */
const runs: Record<string, () => Promise<string>> = {
  async completed() {
    const taskId = await parts.client.start('slow_compute', { seconds: 1 });
    await parts.client.until(taskId, 'completed');
    return taskId;
  },
  async answered() {
    const taskId = await parts.client.start('confirm_delete', { filename: 'replayed.txt' });
    const task = await parts.client.until(taskId, 'input_required');
    const [key] = Object.keys(task.inputRequests);
    await parts.client.answer(taskId, key!, { action: 'accept', content: { confirm: true } });
    await parts.client.until(taskId, 'completed');
    return taskId;
  },
  async failed() {
    const taskId = await parts.client.start('failing_job');
    await parts.client.until(taskId, 'completed');
    return taskId;
  },
  async canceled() {
    const ledger = join(mkdtempSync(join(tmpdir(), 'longhaul-')), 'ledger');
    const taskId = await parts.client.start('step_ledger', { ledger, steps: 2, secondsPerStep: 60 });
    await parts.client.until(taskId, (task) => task._meta?.['longhaul/progress']?.stage === 'step 1');
    await (await parts.temporal()).workflow.getHandle(taskId).signal('cancel_operation', 'to be replayed');
    await parts.client.until(taskId, 'cancelled');
    return taskId;
  },
  async 'as a pipeline'() {
    const taskId = await parts.client.start('replayed', { items: ['a', 'b'] });
    const task = await parts.client.until(taskId, 'input_required');
    const [key] = Object.keys(task.inputRequests);
    await parts.client.answer(taskId, key!, { action: 'accept', content: { approve: true } });
    await parts.client.until(taskId, 'completed');
    return taskId;
  },
  async 'with an output of another type'() {
    const taskId = await parts.client.start('misfit');
    await parts.client.until(taskId, 'completed');
    return taskId;
  },
};

test.each(Object.keys(runs))('an operation that ended %s replays, as does the recorded one', async (kind) => {
  const taskId = await runs[kind]!();
  const history = await (await parts.temporal()).workflow.getHandle(taskId).fetchHistory();
  await replay(taskId, history);
  const path = join(RECORDED, `${kind.replaceAll(' ', '-')}.json`);
  if (process.env['LONGHAUL_RECORD'])
    writeFileSync(path, historyToJSON(history).replaceAll(`${resolve('.')}/`, ''));
  expect(existsSync(path)).toBe(true);
  await replay(`recorded-${kind.replaceAll(' ', '-')}`, JSON.parse(readFileSync(path, 'utf8')));
});

test('a history that the code of today would not make is refused: the check can fail', async () => {
  const history = JSON.parse(readFileSync(join(RECORDED, 'completed.json'), 'utf8'));
  const scheduled = history.events.find((event: any) => event.activityTaskScheduledEventAttributes);
  scheduled.activityTaskScheduledEventAttributes.activityType.name = 'somethingElse';
  await expect(replay('tampered', history)).rejects.toThrow(/[Nn]ondeterminis/);
});
