/** A worker that is asked to stop while activities of tools run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { deploymentNameOf } from '../../platform/temporal/deployments.js';
import { processesOn } from '../pipelines/support.js';
import { eventually, readText } from '../stack/cli-process.js';
import { setCurrentVersion } from '../support/current-version.js';
import { afterAllTests, afterThisTest, forThisTest, temporaryFolder } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack, type Part } from '../support/test-stack.js';

/** gRPC status codes. */
const INVALID_ARGUMENT = 3;
const UNAVAILABLE = 14;

let folder: string;
/** Operations of the test. */
const started: string[] = [];
// Own stack: the tests stop its workers.
const stack = await TestStack.serverAlone({});
afterAllTests(() => stack.stop('SIGKILL'));
beforeEach(() => {
  folder = temporaryFolder('drain');
});
afterEach(async () => {
  const workers = stack.parts.filter(({ process }) => process.spawnargs.includes('worker'));
  await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
  const { workflow } = await stack.temporal();
  for (const token of started.splice(0))
    await workflow
      .getHandle(token)
      .terminate()
      .catch(() => undefined);
});

/** Attempts of the long activity, as they began. */
const attempts = (): { pid: number; attempt: number }[] =>
  readText(join(folder, 'held'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const release = () => writeFileSync(join(folder, 'release'), '');

const said = (worker: Part, text: string) =>
  eventually(
    () => `the worker says "${text}": ${worker.output()}`,
    () => worker.output().includes(text),
  );

/** Exit code of a worker that was asked to stop. */
async function exitCode(worker: Part): Promise<number | null> {
  const { process: child } = worker;
  await eventually(
    () => `the worker ends: ${worker.output()}`,
    () => child.exitCode !== null || child.signalCode !== null,
  );
  return child.exitCode;
}

/** Waits for a worker, also where the server has seen one of an earlier test. */
async function isReady(worker: Part): Promise<void> {
  await said(worker, 'worker runs');
  await stack.ready();
}

/** Starts an operation whose long activity runs. */
async function startHeld(client = stack.client): Promise<string> {
  const taskId = await client.start('hold', { folder });
  started.push(taskId);
  await eventually('the long activity runs', () => attempts().length === 1);
  await client.until(taskId, 'input_required');
  return taskId;
}

async function proceed(taskId: string, { client } = stack): Promise<void> {
  const { inputRequests } = await client.until(taskId, 'input_required');
  await client.answer(taskId, Object.keys(inputRequests)[0]!, {
    action: 'accept',
    content: { proceed: true },
  });
}

/** Has new operations begin on the build that a worker says it runs. */
async function makeCurrent(of: TestStack, worker: Part): Promise<void> {
  const deploymentName = deploymentNameOf(of.taskQueue);
  const buildId = await eventually(
    () => `the worker names its build: ${worker.output()}`,
    () => /"deployment":"[^"]*","buildId":"([^"]*)"/.exec(worker.output())?.[1],
  );
  await setCurrentVersion(await of.temporal(), { deploymentName, buildId });
}

test('an activity of a build runs to its end, and the rest of its operation on another worker', async () => {
  // Own stack: a build becomes current on its task queue.
  const versioned = await TestStack.serverAlone({});
  afterThisTest(() => versioned.stop('SIGKILL'));

  const settings = { LONGHAUL_WORKER_VERSIONING: 'true', LONGHAUL_DRAIN_TIMEOUT: '10m' };
  const worker = versioned.worker(settings);
  await makeCurrent(versioned, worker);
  await said(worker, 'worker runs');
  await versioned.ready();
  const { client } = versioned;
  const taskId = await startHeld(client);
  const other = versioned.worker(settings);
  await said(other, 'worker runs');

  worker.process.kill('SIGTERM');
  await said(worker, 'worker stops: 1 activity still runs, and may do so for 600 s');
  await proceed(taskId, versioned);
  await eventually('the other activity runs', () => readText(join(folder, 'noted')));
  expect(JSON.parse(readText(join(folder, 'noted')))).toEqual({ pid: other.process.pid, attempt: 1 });
  await client.until(taskId, (task) => task._meta?.['longhaul/progress']?.progress === 1);
  await client.until(await client.start('nap', { seconds: 1 }), 'completed');

  expect(worker.process.exitCode).toBeNull();
  release();
  const { result } = await client.until(taskId, 'completed');
  expect(result.structuredContent.held).toEqual({ pid: worker.process.pid, attempt: 1 });
  expect(await exitCode(worker)).toBe(0);
  expect(attempts()).toHaveLength(1);
});

test('an activity that still runs after the drain timeout is cancelled, and runs again on another worker', async () => {
  const worker = stack.worker({ LONGHAUL_DRAIN_TIMEOUT: '1s' });
  await isReady(worker);
  const taskId = await startHeld();
  const other = stack.worker();
  await worker.end();
  expect(worker.process.exitCode).toBe(0);
  expect(worker.output()).toContain('worker stops: 1 activity still runs, and may do so for 1 s');
  expect(worker.output()).toContain('drain timeout: 1 activity still runs, and will be cancelled');
  await eventually('it runs again', () => attempts().length === 2);
  expect(attempts()[1]).toEqual({ pid: other.process.pid, attempt: 2 });
  release();
  await proceed(taskId);
  await stack.client.until(taskId, 'completed');
});

test('a cancel reaches an activity of a worker that drains, which then ends', async () => {
  const worker = stack.worker({ LONGHAUL_DRAIN_TIMEOUT: '10m' });
  await isReady(worker);
  const taskId = await startHeld();
  stack.worker();
  worker.process.kill('SIGTERM');
  await said(worker, 'worker stops: 1 activity still runs');
  await stack.client.request('tasks/cancel', { taskId });
  await stack.client.until(taskId, 'cancelled');
  expect(await exitCode(worker)).toBe(0);
});

test('a second signal ends a worker that drains at once', async () => {
  const worker = stack.worker({ LONGHAUL_DRAIN_TIMEOUT: '10m' });
  await isReady(worker);
  await startHeld();
  worker.process.kill('SIGTERM');
  await said(worker, 'worker stops: 1 activity still runs');
  // Signals in quick succession count as one.
  await eventually(
    'it has ended',
    () => worker.process.exitCode !== null || void worker.process.kill('SIGTERM'),
  );
  expect(worker.process.exitCode).toBe(130);
});

test('an outcome that Temporal does not take is reported until it does, while the worker drains', async () => {
  const proxy = await forThisTest(TemporalProxy.start(() => undefined));

  const worker = stack.worker({ LONGHAUL_DRAIN_TIMEOUT: '10m', TEMPORAL_ADDRESS: proxy.address });
  await isReady(worker);
  const taskId = await startHeld();
  stack.worker();
  worker.process.kill('SIGTERM');
  await said(worker, 'worker stops: 1 activity still runs');
  proxy.decide = ({ method }) =>
    method.startsWith('RespondActivityTask') ? { code: UNAVAILABLE, message: 'a lagging shard' } : undefined;
  release();
  await said(worker, "an activity's outcome could not be reported; trying again");
  await eventually('the worker has tried three times', () => proxy.refusedCalls >= 3);
  expect(worker.process.exitCode).toBeNull();
  proxy.decide = () => undefined;
  expect(await exitCode(worker)).toBe(0);
  await proceed(taskId);
  const { result } = await stack.client.until(taskId, 'completed');
  expect(result.structuredContent.held).toEqual({ pid: worker.process.pid, attempt: 1 });
});

test('a worker that fails ends without a drain', async () => {
  const proxy = await forThisTest(TemporalProxy.start(() => undefined));

  const worker = stack.worker({ LONGHAUL_DRAIN_TIMEOUT: '24h', TEMPORAL_ADDRESS: proxy.address });
  await isReady(worker);
  await startHeld();
  proxy.decide = ({ method }) =>
    method === 'PollWorkflowTaskQueue' ? { code: INVALID_ARGUMENT, message: 'no such poll' } : undefined;
  // Open polls would last for a minute.
  proxy.disconnect();
  // The SDK takes another one to give up.
  await eventually(
    'the worker fails',
    async () => {
      await stack.client.start('nap');
      return worker.output().includes('worker stops: 1 activity still runs');
    },
    PROCESSES_MS,
  );
  expect(await exitCode(worker)).toBe(1);
  expect(worker.output()).toContain('no such poll');
});

test.each([
  ['5m', 'completed', 1],
  ['0s', 'input_required', 0],
])(
  'a step that ends with its worker gets the drain timeout, %s: then it is %s',
  async (drainTimeout, status, completed) => {
    const ledger = join(folder, 'ledger');
    const settings = { LONGHAUL_STEPS_END_WITH_WORKER: 'true' };
    const worker = stack.worker({ ...settings, LONGHAUL_DRAIN_TIMEOUT: drainTimeout });
    await isReady(worker);
    const taskId = await stack.client.start('last_step', { ledger });
    started.push(taskId);
    await eventually('the step runs', () => readText(ledger) === 'start\n');
    worker.process.kill('SIGTERM');
    await said(worker, 'worker stops: 1 activity still runs');
    if (completed) writeFileSync(`${ledger}.go`, '');
    expect(await exitCode(worker)).toBe(0);
    expect(readText(ledger)).toBe(completed ? 'start\nend\n' : 'start\n');
    expect(processesOn(ledger)).toEqual([]);
    stack.worker(settings);
    await stack.client.until(taskId, status);
    expect(readText(ledger)).toBe(completed ? 'start\nend\n' : 'start\n');
  },
);
