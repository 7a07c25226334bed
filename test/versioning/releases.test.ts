/** Two releases side by side on one Temporal: each operation ends on the release that it began on, and is read by any. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { join as register, newPrincipal, openMailbox, type MailboxProcess } from '../mailbox/support.js';
import { OUTAGE_MS } from '../support/limits.js';
import type { TestStack } from '../support/test-stack.js';
import { Releases } from './support.js';

jest.setTimeout(OUTAGE_MS);

let releases: Releases;
let stack: TestStack;
let mailbox: MailboxProcess;
beforeAll(async () => {
  releases = new Releases();
  stack = await releases.start();
  mailbox = await openMailbox(stack);
}, OUTAGE_MS);
afterAll(async () => {
  await mailbox?.temporal.close();
  await stack?.stop();
  releases?.remove();
});

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
  const principal = newPrincipal();
  await register(mailbox, principal, 'first');

  const next = stack.worker({}, releases.after.main);
  const later = await releases.buildOf(next);
  expect(later).not.toBe(earlier);
  await releases.makeCurrent(later);
  const newOnes = [await releases.ask(later), await releases.ask(later)];
  await releases.finish(open[0]!);
  expect(await releases.versionOf(open[0]!)).toMatchObject({ buildId: earlier });
  await releases.finish(newOnes[0]!);
  await register(mailbox, principal, 'second');
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
  await register(mailbox, principal, 'third');

  const waiting = await releases.ask(earlier);
  await worker.end();
  expect(worker.output()).toMatch(new RegExp(`this is the last worker of build ${earlier}: 1 open workflow`));
  stack.worker({}, releases.before.main);
  await releases.finish(waiting);
});
