/** Workflows whose code would end their worker, beside neighbours that must not notice. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { openStorage } from '../../platform/storage/index.js';
import { operationLogPrefix } from '../../platform/storage/keys.js';
import { eventually, readText } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { logText } from '../support/stored-log.js';
import { TestStack, type Part } from '../support/test-stack.js';

jest.setTimeout(OUTAGE_MS);

const storage = openStorage({ home: process.env['LONGHAUL_HOME']! });
const folder = mkdtempSync(join(tmpdir(), 'longhaul-bad-workflows-'));
const attempts = (activity: string) => readText(join(folder, activity)).split('\n').filter(Boolean);

let stack: TestStack;
let worker: Part;
beforeAll(async () => {
  // Own stack: the tests load its worker.
  stack = await TestStack.serverAlone({
    LONGHAUL_PROJECT: resolve('test/core/project'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
  });
  worker = stack.worker();
  await stack.ready();
});
afterAll(async () => {
  await stack?.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const cancel = (token: string) =>
  stack.client.request('tools/call', {
    name: 'operation_cancel',
    arguments: { token, force: true, reason: 'no way out' },
  });
const message = async (taskId: string) => ((await stack.client.get(taskId)).statusMessage ?? '') as string;

test('workflows that would end their worker are quarantined, and their neighbour completes at its first attempt', async () => {
  const neighbour = await stack.client.start('blocked_loop', { activity: 'neighbour', folder });
  const mistakes = ['await loop', 'loop', 'flood', 'leak', 'host rejection'];
  const taskIds = await Promise.all(mistakes.map((mistake) => stack.client.start('bad_code', { mistake })));
  for (const taskId of taskIds) {
    const line = await eventually('it is quarantined', async () => {
      const text = await message(taskId);
      return text.includes('no worker runs its code before') && text;
    });
    expect(line).toMatch(/workflow bad_code \(workflows\/bad_code\.ts\) (ran for over 4 s|ended its thread)/);
    expect(line).toContain('longhaul cancel --force');
    await eventually('the log says so', async () =>
      (await logText(storage, operationLogPrefix(taskId))).includes('no worker runs its code before'),
    );
  }
  expect(worker.process.exitCode).toBeNull();
  writeFileSync(join(folder, 'release'), '');
  await stack.client.until(neighbour, 'completed');
  expect(attempts('neighbour')).toHaveLength(1);
  await cancel(taskIds[0]!);
  const forced = await stack.client.until(taskIds[0]!, 'cancelled');
  expect(forced.statusMessage).toBe('canceled: forced by anonymous, its cleanups did not run: no way out');
});

test('a cancel that has had no effect for the time of its cleanups offers to force it', async () => {
  const taskId = await stack.client.start('bad_code', { mistake: 'deaf to a cancel' });
  await stack.client.request('tasks/cancel', { taskId });
  await eventually('it is offered', async () => (await message(taskId)).includes('longhaul cancel --force'));
  await cancel(taskId);
  await stack.client.until(taskId, 'cancelled');
});
