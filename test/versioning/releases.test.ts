/** Two releases side by side on one Temporal: each operation ends on the release that it began on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { deploymentNameOf, setCurrentVersion } from '../../platform/deployments.js';
import { join as register, newPrincipal, openMailbox, type MailboxProcess } from '../mailbox/support.js';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { TestStack, type Part } from '../support/test-stack.js';
import { Release } from './release.js';

jest.setTimeout(OUTAGE_MS);

const root = mkdtempSync(join(tmpdir(), 'longhaul-releases-'));
let stack: TestStack;
let mailbox: MailboxProcess;
const [before, after] = [Release.copyTo(join(root, 'before')), Release.copyTo(join(root, 'after'))];

beforeAll(async () => {
  after.plantTimer();
  stack = await TestStack.serverAlone({ LONGHAUL_WORKER_VERSIONING: 'true' });
  mailbox = await openMailbox(stack);
}, OUTAGE_MS);
afterAll(async () => {
  await mailbox?.temporal.close();
  await stack?.stop();
  rmSync(root, { recursive: true, force: true });
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
async function ask(buildId: string): Promise<string> {
  const taskId = await stack.client.start('confirm_delete', { filename: 'a.txt' });
  await stack.client.until(taskId, 'input_required');
  expect(await versionOf(taskId)).toMatchObject({ buildId, behavior: 1 });
  return taskId;
}

async function finish(taskId: string): Promise<void> {
  const { inputRequests } = await stack.client.until(taskId, 'input_required');
  const answer = { action: 'accept', content: { confirm: true } };
  await stack.client.answer(taskId, Object.keys(inputRequests)[0]!, answer);
  await stack.client.until(taskId, 'completed');
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
