/** Workflows whose code would end their worker, beside neighbours that must not notice. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openStorage } from '../../platform/storage/index.js';
import { operationLogPrefix } from '../../platform/storage/keys.js';
import { eventually, readText } from '../stack/cli-process.js';
import { afterAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { logText } from '../support/stored-log.js';
import { COUNTED_PROJECT, TestStack, type Part } from '../support/test-stack.js';

const storage = openStorage({ home: process.env['LONGHAUL_HOME']! });
const folder = temporaryFolder('bad-workflows');
const attempts = (activity: string) => readText(join(folder, activity)).split('\n').filter(Boolean);

// Own stack: the tests load its worker.
const stack = await TestStack.start(COUNTED_PROJECT);
afterAllTests(() => stack.stop('SIGKILL'));
const [, worker] = stack.parts as [Part, Part];

const cancel = (token: string) =>
  stack.client.call('operation_cancel', { token, force: true, reason: 'no way out' });
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
