/** Two releases side by side on one Temporal: each operation ends on the release that it began on, and is read by any. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { deploymentNameOf, setCurrentVersion } from '../../platform/deployments.js';
import { join as register, newPrincipal, openMailbox, type MailboxProcess } from '../mailbox/support.js';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { TestStack, type Part } from '../support/test-stack.js';
import { Release } from './release.js';

jest.setTimeout(OUTAGE_MS);

const root = mkdtempSync(join(tmpdir(), 'longhaul-releases-'));
const pipelines = join(root, 'pipelines');
const ledger = join(root, 'ledger');
const [before, after] = [Release.copyTo(join(root, 'before')), Release.copyTo(join(root, 'after'))];
let stack: TestStack;
let mailbox: MailboxProcess;

const RELEASED = `
jobs:
  build:
    outputs: [value]
    steps: [{ run: 'echo "value=1" >> "$LONGHAUL_OUTPUT"' }]
  deploy:
    needs: build
    steps: [{ name: ask, approval: { message: Deploy? } }, { run: 'echo deployed' }]
`;
const FAILING = `
outputs: { value: { value: one.value, type: string } }
jobs:
  one:
    outputs: [value]
    steps: [{ run: 'echo one >> ${ledger}; echo "value=1" >> "$LONGHAUL_OUTPUT"' }]
  two:
    needs: one
    steps: [{ run: 'echo two >> ${ledger}; [ -e ${ledger}.fixed ]' }]
`;

beforeAll(() => {
  after.plantTimers();
  mkdirSync(pipelines);
  writeFileSync(join(pipelines, 'released.yml'), RELEASED);
  writeFileSync(join(pipelines, 'failing.yml'), FAILING);
}, OUTAGE_MS);
afterAll(() => rmSync(root, { recursive: true, force: true }));

beforeEach(async () => {
  stack = await TestStack.serverAlone({
    LONGHAUL_WORKER_VERSIONING: 'true',
    LONGHAUL_PIPELINE_FOLDERS: pipelines,
  });
  mailbox = await openMailbox(stack);
});
afterEach(async () => {
  await mailbox?.temporal.close();
  await stack?.stop();
});

/** Build ID that a worker says it runs. */
const buildOf = (worker: Part) =>
  eventually(
    () => `the worker names its build: ${worker.output()}`,
    () => /"deployment":"[^"]*","buildId":"([^"]*)"/.exec(worker.output())?.[1],
    120_000,
  );

async function makeCurrent(buildId: string): Promise<void> {
  const version = { deploymentName: deploymentNameOf(stack.taskQueue), buildId };
  await setCurrentVersion(await stack.temporal(), version, { signal: AbortSignal.timeout(60_000) });
}

/** Starts an operation that asks. @param buildId build that it has to run on */
async function ask(buildId: string | undefined, tool = 'confirm_delete'): Promise<string> {
  const taskId = await stack.client.start(tool, tool === 'confirm_delete' ? { filename: 'a.txt' } : {});
  await stack.client.until(taskId, 'input_required');
  const behavior = buildId === undefined ? undefined : 1;
  expect(await versionOf(taskId)).toEqual({ buildId, behavior });
  return taskId;
}

async function finish(taskId: string): Promise<void> {
  const { inputRequests } = await stack.client.until(taskId, 'input_required');
  const [[key, { params }]] = Object.entries<any>(inputRequests) as [[string, any]];
  const [field] = Object.keys(params.requestedSchema.properties);
  await stack.client.answer(taskId, key, { action: 'accept', content: { [field!]: true } });
  const { result } = await stack.client.until(taskId, 'completed');
  expect(result.isError).not.toBe(true);
}

async function versionOf(workflowId: string) {
  const { raw } = await (await stack.temporal()).workflow.getHandle(workflowId).describe();
  const info = raw.workflowExecutionInfo?.versioningInfo;
  return { buildId: info?.deploymentVersion?.buildId, behavior: info?.behavior };
}

test('operations end on the release that they began on, a mailbox moves over, and a rollback strands nothing', async () => {
  const worker = stack.worker({}, before.main);
  const earlier = await buildOf(worker);
  expect(worker.output()).toContain(
    `has no current version, so new operations start nowhere: longhaul deploy current ${earlier}`,
  );
  await makeCurrent(earlier);
  await stack.ready();
  const open = [await ask(earlier), await ask(earlier)];
  const principal = newPrincipal();
  await register(mailbox, principal, 'first');

  const next = stack.worker({}, after.main);
  const later = await buildOf(next);
  expect(later).not.toBe(earlier);
  await makeCurrent(later);
  const newOnes = [await ask(later), await ask(later)];
  await finish(open[0]!);
  expect(await versionOf(open[0]!)).toMatchObject({ buildId: earlier });
  await finish(newOnes[0]!);
  await register(mailbox, principal, 'second');
  const directories = (await stack.temporal()).workflow.list({
    query: `TaskQueue = '${stack.taskQueue}' AND WorkflowType = 'mailbox_directory' AND ExecutionStatus = 'Running'`,
  });
  let count = 0;
  for await (const { workflowId } of directories) {
    count += 1;
    // The mailbox's answer to the second registration came from the later release.
    expect(await versionOf(workflowId)).toEqual({ buildId: later, behavior: 2 });
  }
  expect(count).toBe(1);

  await makeCurrent(earlier);
  const rolledBack = await ask(earlier);
  for (const taskId of [open[1]!, newOnes[1]!, rolledBack]) await finish(taskId);
  expect(await versionOf(newOnes[1]!)).toMatchObject({ buildId: later });
  await register(mailbox, principal, 'third');

  const waiting = await ask(earlier);
  await worker.end();
  expect(worker.output()).toMatch(new RegExp(`this is the last worker of build ${earlier}: 1 open workflow`));
  stack.worker({}, before.main);
  await finish(waiting);
});

/** Structured content of a tool about operations. */
async function call(name: string, args: object): Promise<any> {
  const { result, error } = await stack.client.request('tools/call', { name, arguments: args });
  expect(error ?? result.isError).toBeFalsy();
  return result.structuredContent;
}

test('pipelines end on the release that they began on; closed ones are read and resumed once its workers are gone', async () => {
  const worker = stack.worker({}, before.main);
  const earlier = await buildOf(worker);
  await makeCurrent(earlier);
  await stack.ready();
  const open = await ask(earlier, 'released');
  const failed = await stack.client.start('failing', {});
  const canceled = await stack.client.start('large_values', { partialBytes: 300_000, thenWaitSeconds: 600 });
  const partial = async () => (await call('operation_get', { token: canceled, view: 'partial' })).partial;
  const written = await eventually('there is a partial result', partial);
  await stack.client.request('tasks/cancel', { taskId: canceled });
  await stack.client.until(canceled, 'cancelled');
  await stack.client.until(failed, 'completed');

  const later = await buildOf(stack.worker({}, after.main));
  await makeCurrent(later);
  const newOne = await ask(later, 'released');
  await finish(open);
  expect(await versionOf(open)).toMatchObject({ buildId: earlier });
  await worker.end();
  await finish(newOne);

  expect(await partial()).toEqual(written);
  const steps = async (token: string) => (await call('operation_get', { token, view: 'steps' })).children;
  expect(await steps(failed)).toMatchObject([{ status: 'completed' }, { status: 'failed' }]);
  expect((await steps(open)).map(({ status }: { status: string }) => status)).toEqual([
    'completed',
    'completed',
  ]);
  writeFileSync(`${ledger}.fixed`, '');
  const resumed = (await call('operation_resume', { token: failed })).token;
  const { result } = await stack.client.until(resumed, 'completed');
  expect(result.structuredContent).toEqual({ value: '1' });
  expect(readFileSync(ledger, 'utf8')).toBe('one\ntwo\ntwo\n');
  expect(await versionOf(resumed)).toMatchObject({ buildId: later });
});

test('operations of workers without versions continue on the current build; a worker names those that its build does not replay', async () => {
  const unversioned = stack.worker({ LONGHAUL_WORKER_VERSIONING: 'false' }, before.main);
  await stack.ready();
  const [open, blocked] = [await ask(undefined), await ask(undefined)];
  await unversioned.end();

  const earlier = await buildOf(stack.worker({}, before.main));
  await makeCurrent(earlier);
  await finish(open);
  expect(await versionOf(open)).toMatchObject({ buildId: earlier });

  const worker = stack.worker({}, after.main);
  const later = await buildOf(worker);
  const said = `the code of build ${later} doesn't replay the open operation ${blocked}, which began before worker versioning`;
  await eventually(
    () => `the worker says what does not replay: ${worker.output()}`,
    () => worker.output().includes(said),
  );
  await finish(blocked);
  expect(await versionOf(blocked)).toMatchObject({ buildId: earlier });
});
