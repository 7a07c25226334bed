/** Operations whose build has no worker, and ones that begin while no build is current: messages say what to do. */
import { expect, jest, test } from '@jest/globals';
import { documents, run } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { deployForEachTest, type Deployed } from './support.js';

jest.setTimeout(STACK_MS);

interface Findings {
  findings: { check: string; status: string; detail: string; advice?: string }[];
}

let deployed: Deployed;
deployForEachTest((one) => (deployed = one));

const messageOf = async (token: string) => String((await deployed.stack.client.get(token)).statusMessage);
const says = (token: string, text: RegExp) =>
  eventually(`${token} says ${String(text)}`, async () => text.test(await messageOf(token)));
const doctor = async () => {
  const args = ['doctor', '--json', '--url', `${deployed.stack.base}/mcp`];
  const ended = await run(deployed.stack, args.slice(0, 2), { environment: deployed.environment });
  return documents<Findings>(ended)[0]!.findings.filter(({ check }) => check === 'deployment');
};

test('an operation that begins while no build is current says so', async () => {
  await deployed.worker('b1');
  await eventually('the server is up', () =>
    fetch(`${deployed.stack.base}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const token = await deployed.operation();
  await says(token, /^no build of the workers is current, .*: see `longhaul deploy status`$/);
  expect(await doctor()).toEqual([
    expect.objectContaining({ status: 'fail', detail: expect.stringMatching(/no build of \S+ is current/) }),
  ]);
  const { stdout } = await deployed.deploy('status');
  expect(stdout).toMatch(/No build of \S+ is current, so new operations wait\.\n {2}-> temporal worker/);
  const ready = await fetch(`${deployed.stack.base}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ missing: [expect.stringContaining('is current: see')] });
  await deployed.runPrinted(stdout, '--yes');
  await deployed.runsOn(token, 'b1');
  await deployed.stack.ready();
  expect(await doctor()).toEqual([
    expect.objectContaining({ status: 'ok', detail: expect.stringContaining('current build b1') }),
  ]);
});

test('an operation of a build without workers says so, and can be moved to another', async () => {
  await deployed.worker('b1');
  await deployed.makeCurrent('b1');
  await deployed.stack.ready();
  const [token, reset] = [await deployed.operation(), await deployed.operation()];
  for (const one of [token, reset]) await deployed.runsOn(one, 'b1');
  const handle = deployed.temporal.client.workflow.getHandle(reset);
  await handle.signal('poke');
  await eventually('the operation has had two workflow tasks', async () => {
    const { historyLength, raw } = await handle.describe();
    return historyLength === 8 && !raw.pendingWorkflowTask;
  });
  await deployed.worker('b2');
  await deployed.makeCurrent('b2');
  await deployed.kill('b1');
  await deployed.finish(token);
  const waits =
    /^waits for a worker of build b1; none has polled for .*: start one of that release, or see `longhaul deploy status`$/;
  await says(token, waits);
  const stranded = /2 open operations need a worker of build b1; none polls the task queue/;
  const [finding] = await doctor();
  expect(finding).toMatchObject({ status: 'fail', detail: expect.stringMatching(stranded) });
  expect((await deployed.deploy('status')).stdout).toMatch(stranded);

  // A run that is reset to its second workflow task still needs the build that has done the first.
  await deployed.temporal.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: reset, runId: (await handle.describe()).runId },
    reason: 'test',
    requestId: reset,
    workflowTaskFinishEventId: 8 as never,
  });
  await says(reset, waits);

  await deployed.runPrinted(finding!.advice!);
  await deployed.finish(reset);
  await deployed.stack.client.until(token, 'completed');
  await deployed.stack.client.until(reset, 'completed');
});
