/** Two releases side by side on one Temporal: each operation ends on the release that it began on, and is read by any. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { join as register, newPrincipal, openMailbox, type MailboxProcess } from '../mailbox/support.js';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import type { TestStack } from '../support/test-stack.js';
import { Releases } from './support.js';

jest.setTimeout(OUTAGE_MS);

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
    steps: [{ run: 'echo one >> LEDGER; echo "value=1" >> "$LONGHAUL_OUTPUT"' }]
  two:
    needs: one
    steps: [{ run: 'echo two >> LEDGER; [ -e LEDGER.fixed ]' }]
`;

let releases: Releases;
let stack: TestStack;
let mailbox: MailboxProcess | undefined;
let ledger: string;
beforeAll(() => {
  releases = new Releases();
  ledger = join(releases.root, 'ledger');
}, OUTAGE_MS);
afterAll(() => releases?.remove());
beforeEach(async () => {
  stack = await releases.start({ released: RELEASED, failing: FAILING.replaceAll('LEDGER', ledger) });
});
afterEach(async () => {
  await mailbox?.temporal.close();
  mailbox = undefined;
  await stack?.stop();
});

/** Structured content of a tool about operations. */
async function call(name: string, args: object): Promise<any> {
  const { result, error } = await stack.client.request('tools/call', { name, arguments: args });
  expect(error ?? result.isError).toBeFalsy();
  return result.structuredContent;
}

test('operations end on the release that they began on, a mailbox moves over, and a rollback strands nothing', async () => {
  const worker = stack.worker({}, releases.before.main);
  const earlier = await releases.buildOf(worker);
  expect(worker.output()).toContain(
    `so new operations start nowhere: temporal worker deployment set-current-version --namespace default ` +
      `--deployment-name longhaul-${stack.taskQueue} --build-id ${earlier}`,
  );
  await releases.makeCurrent(earlier);
  await stack.ready();
  const open = [await releases.ask(earlier), await releases.ask(earlier)];
  const pipeline = await releases.ask(earlier, 'released');
  const failed = await stack.client.start('failing', {});
  const canceled = await stack.client.start('large_values', { partialBytes: 300_000, thenWaitSeconds: 600 });
  const partial = async () => (await call('operation_get', { token: canceled, view: 'partial' })).partial;
  const written = await eventually('there is a partial result', partial);
  await stack.client.request('tasks/cancel', { taskId: canceled });
  await stack.client.until(canceled, 'cancelled');
  await stack.client.until(failed, 'completed');
  const agents = (mailbox = await openMailbox(stack));
  const principal = newPrincipal();
  await register(agents, principal, 'first');

  const next = stack.worker({}, releases.after.main);
  const later = await releases.buildOf(next);
  expect(later).not.toBe(earlier);
  await releases.makeCurrent(later);
  const newOnes = [await releases.ask(later), await releases.ask(later)];
  await releases.finish(open[0]!);
  expect(await releases.versionOf(open[0]!)).toMatchObject({ buildId: earlier });
  await releases.finish(newOnes[0]!);
  await releases.finish(pipeline);
  expect(await releases.versionOf(pipeline)).toMatchObject({ buildId: earlier });
  await register(agents, principal, 'second');
  const directories = (await stack.temporal()).workflow.list({
    query: `TaskQueue = '${stack.taskQueue}' AND WorkflowType = 'mailbox_directory' AND ExecutionStatus = 'Running'`,
  });
  let count = 0;
  for await (const { workflowId } of directories) {
    count += 1;
    // The mailbox's answer to the second registration came from the later release.
    expect(await releases.versionOf(workflowId)).toEqual({ buildId: later, behavior: 2 });
  }
  expect(count).toBe(1);

  await releases.makeCurrent(earlier);
  const rolledBack = await releases.ask(earlier);
  for (const taskId of [open[1]!, newOnes[1]!, rolledBack]) await releases.finish(taskId);
  expect(await releases.versionOf(newOnes[1]!)).toMatchObject({ buildId: later });
  await register(agents, principal, 'third');

  const waiting = await releases.ask(earlier);
  await worker.end();
  expect(worker.output()).toMatch(new RegExp(`this is the last worker of build ${earlier}: 1 open workflow`));

  // Closed operations are read and resumed without workers of their release.
  await releases.makeCurrent(later);
  expect(await partial()).toEqual(written);
  const steps = async (token: string) => (await call('operation_get', { token, view: 'steps' })).children;
  expect(await steps(failed)).toMatchObject([{ status: 'completed' }, { status: 'failed' }]);
  expect(await steps(pipeline)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  writeFileSync(`${ledger}.fixed`, '');
  const resumed = (await call('operation_resume', { token: failed })).token;
  const { result } = await stack.client.until(resumed, 'completed');
  expect(result.structuredContent).toEqual({ value: '1' });
  expect(readFileSync(ledger, 'utf8')).toBe('one\ntwo\ntwo\n');
  expect(await releases.versionOf(resumed)).toMatchObject({ buildId: later });

  stack.worker({}, releases.before.main);
  await releases.finish(waiting);
});

test('operations of workers without versions continue on the current build; a worker names those that its build does not replay', async () => {
  const unversioned = stack.worker({ LONGHAUL_WORKER_VERSIONING: 'false' }, releases.before.main);
  await stack.ready();
  const [open, blocked] = [await releases.ask(undefined), await releases.ask(undefined)];
  await unversioned.end();

  const earlier = await releases.buildOf(stack.worker({}, releases.before.main));
  await releases.makeCurrent(earlier);
  await releases.finish(open);
  expect(await releases.versionOf(open)).toMatchObject({ buildId: earlier });

  const worker = stack.worker({}, releases.after.main);
  const later = await releases.buildOf(worker);
  const said = `the code of build ${later} doesn't replay the open operation ${blocked}, which began before worker versioning`;
  await eventually(
    () => `the worker says what does not replay: ${worker.output()}`,
    () => worker.output().includes(said),
  );
  await releases.finish(blocked);
  expect(await releases.versionOf(blocked)).toMatchObject({ buildId: earlier });
});
