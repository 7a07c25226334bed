/** Activities that block their worker's event loop, and the lines that say what went wrong. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { openStorage } from '../../platform/storage/index.js';
import { operationLogPrefix } from '../../platform/storage/keys.js';
import { eventually, readText } from '../stack/cli-process.js';
import { afterAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { logText } from '../support/stored-log.js';
import { COUNTED_PROJECT, TestStack } from '../support/test-stack.js';

const storage = openStorage({ home: process.env['LONGHAUL_HOME']! });
const logOf = (taskId: string) => logText(storage, operationLogPrefix(taskId));
const BLOCKED = "crunch blocked the worker's event loop";

let folder: string;
// Own stack: the tests block its workers.
const stack = await TestStack.start(COUNTED_PROJECT);
afterAllTests(() => stack.stop('SIGKILL'));
const workers = [stack.parts[1]!, stack.worker()];
beforeEach(() => {
  folder = temporaryFolder('blocked');
});

const start = (activity: string, input: object = {}) =>
  stack.client.start('blocked_loop', { activity, folder, ...input });
const attempts = (activity: string) => readText(join(folder, activity)).split('\n').filter(Boolean);

/** Starts neighbours until both workers run one. */
async function startNeighbours(heartbeatSeconds: number): Promise<string[]> {
  const taskIds: string[] = [];
  await eventually('each worker runs a neighbour', async () => {
    taskIds.push(await start('neighbour', { heartbeatSeconds }));
    await eventually('it runs', () => attempts('neighbour').length >= taskIds.length);
    const pids = new Set(attempts('neighbour').map((line) => Number(line.split(' ')[0])));
    return workers.every(({ process }) => pids.has(process.pid!));
  });
  return taskIds;
}

test('an activity that blocks beyond its heartbeat time-out fails at the next attempt, its neighbours complete', async () => {
  const neighbours = await startNeighbours(4);
  const taskId = await start('crunch', { ms: 20_000, heartbeatSeconds: 4 });
  const { result } = await stack.client.until(taskId, 'completed');
  expect(result).toMatchObject({
    isError: true,
    _meta: { 'longhaul/error': { kind: 'failed', retryable: false } },
  });
  const { workflow } = await stack.temporal();
  await expect(workflow.getHandle(taskId).result()).rejects.toMatchObject({
    cause: { type: 'event_loop_blocked' },
  });
  const message = result.content[0].text;
  expect(message).toContain(`${BLOCKED} for over`);
  expect(message).toContain('move the work to a worker thread or child process, or await between chunks');
  expect(message).toMatch(/at spinFor \(activities\/blocked_loop\.ts:\d+:\d+\)\n +at crunch /);
  // The author's code ran once.
  expect(attempts('crunch')).toHaveLength(1);
  await eventually('the worker warns', async () =>
    (await logOf(taskId)).includes(`WARN activity crunch: ${BLOCKED}`),
  );
  writeFileSync(join(folder, 'release'), '');
  for (const neighbour of neighbours) {
    const { result: ended } = await stack.client.until(neighbour, 'completed');
    expect(ended.isError).not.toBe(true);
    expect(await logOf(neighbour)).not.toContain('blocked the');
  }
});

test('a short block is one warning in the log of its own operation', async () => {
  const neighbours = await startNeighbours(60);
  const taskId = await start('crunch', { ms: 5_000 });
  const { result } = await stack.client.until(taskId, 'completed');
  expect(result.isError).not.toBe(true);
  const log = await eventually('the worker warns', async () => {
    const text = await logOf(taskId);
    return text.includes(BLOCKED) ? text : undefined;
  });
  const warnings = log.split('\n').filter((line) => line.includes('blocked the'));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('at spinFor (activities/blocked_loop.ts:');
  writeFileSync(join(folder, 'release'), '');
  for (const neighbour of neighbours) {
    await stack.client.until(neighbour, 'completed');
    expect(await logOf(neighbour)).not.toContain('blocked the');
  }
});

test('a result that Temporal no longer waits for leaves a line with the reason', async () => {
  const taskId = await start('late', { ms: 3_000 });
  const log = await eventually('the refusal is logged', async () => {
    const text = await logOf(taskId);
    return text.includes('refused') && text;
  });
  expect(log).toMatch(
    /WARN activity late: Temporal refused the activity's outcome \{"activityId":"\d+","attempt":1,"reason":".+"\}/,
  );
  await stack.client.until(taskId, 'completed');
});

test('a history that grows large and long leaves one line for each', async () => {
  const taskId = await stack.client.start('long_history');
  await stack.client.until(taskId, 'completed');
  const log = await logOf(taskId);
  for (const what of ['large', 'long'])
    expect(
      log.match(new RegExp(`WARN workflow long_history: the history is ${what}: continue as new`, 'g')),
    ).toHaveLength(1);
});
