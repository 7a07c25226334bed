/** `longhaul deploy status` and the commands of docs/upgrade.md against workers of several builds, and builds without workers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { describeDeployment } from '../../platform/temporal/deployments.js';
import { Clock } from '../chaos/faults/clock.js';
import { documents, run } from '../cli/commands.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { answers } from '../support/service.js';
import { Deployed, DeployTemporal } from './support.js';

jest.setTimeout(OUTAGE_MS);

const HOUR_SECONDS = 3_600;
/** Versions that the deployments may have. */
const VERSIONS = 2;

interface Status {
  current: string | null;
  ramping: { buildId: string; percentage: number } | null;
  versions: {
    buildId: string;
    status: string;
    openOperations: number;
    isPolled: boolean;
    workers: string[];
  }[];
  problems: { detail: string; advice: string }[];
}

interface Findings {
  findings: { check: string; status: string; detail: string; advice?: string }[];
}

let folder: string;
let clock: Clock;
let temporal: DeployTemporal;
let deployed: Deployed;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-clocks-'));
  clock = await Clock.create(folder);
  temporal = await DeployTemporal.start([`matching.maxVersionsInDeployment=${VERSIONS}`]);
}, OUTAGE_MS);
beforeEach(async () => {
  deployed = await Deployed.start(temporal);
});
afterEach(() => deployed?.stop());
afterAll(async () => {
  await temporal?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const status = async () => documents<Status>(await deployed.deploy('status', '--json'))[0]!;
const versionOf = async (buildId: string) =>
  (await status()).versions.find((version) => version.buildId === buildId);
/** Waits until visibility counts this many open operations on a build. */
const untilOpen = (buildId: string, count: number) =>
  eventually(
    `${count} operations are open on ${buildId}`,
    async () => (await versionOf(buildId))?.openOperations === count,
  );
const messageOf = async (token: string) => String((await deployed.stack.client.get(token)).statusMessage);
const says = (token: string, text: RegExp) =>
  eventually(`${token} says ${String(text)}`, async () => text.test(await messageOf(token)));
const doctor = async () => {
  const ended = await run(deployed.stack, ['doctor', '--json'], { environment: deployed.environment });
  return documents<Findings>(ended)[0]!.findings.filter(({ check }) => check === 'deployment');
};

test('a build becomes current, ramps, is rolled back, and is deleted once no operation needs it', async () => {
  expect((await deployed.deploy('status')).stdout).toContain('No versioned worker has polled');
  await deployed.worker('b1');
  expect(await status()).toMatchObject({ current: null, versions: [{ buildId: 'b1', status: 'inactive' }] });
  await deployed.makeCurrent('b1');
  await deployed.runsOn(await deployed.operation(), 'b1');
  await deployed.worker('b2');

  await deployed.documented(/--percentage/, 'b2');
  expect(await status()).toMatchObject({ current: 'b1', ramping: { buildId: 'b2', percentage: 10 } });
  expect((await deployed.deploy('status')).stdout).toMatch(/^b2 +ramping 10 %/m);
  await deployed.documented(/--delete/, 'b2');
  expect(await status()).toMatchObject({ current: 'b1', ramping: { buildId: 'b2', percentage: 0 } });
  await deployed.makeCurrent('b2');
  const later = await deployed.operation();
  await deployed.runsOn(later, 'b2');
  await untilOpen('b1', 1);
  await untilOpen('b2', 1);
  const { stdout } = await deployed.deploy('status');
  expect(stdout).toMatch(/^b2 +current +\S+Z +1 +1, last poll/m);
  expect(stdout).toMatch(/^b1 +draining +\S+Z +1 +1, last poll/m);
  expect(stdout).toMatch(/^Open operations would wait without workers .* keep those of b1 \(1\)\.$/m);

  // Roll back.
  await deployed.makeCurrent('b1');
  await deployed.runsOn(await deployed.operation(), 'b1');
  expect((await deployed.deploy('status')).stdout).toContain('keep those of b2 (1).');
  await deployed.finish(later);
  await eventually('b2 is drained', async () => (await versionOf('b2'))?.status === 'drained');
  expect((await deployed.deploy('status')).stdout).not.toContain('would wait');
  await deployed.kill('b2');
  // Each refused deletion delays the deployment's own workflow by another second.
  await eventually('Temporal forgets the worker of b2', async () => {
    return (await versionOf('b2'))?.workers.length === 0;
  });
  await deployed.documented(/delete-version/, 'b2');
  expect((await status()).versions.map(({ buildId }) => buildId)).toEqual(['b1']);
});

test('by a clock an hour ahead of Temporal, `deploy status` shows a polled build as polled; without Temporal it says so', async () => {
  await deployed.worker('a');
  await deployed.makeCurrent('a');
  clock.jump(HOUR_SECONDS);
  const environment = { ...deployed.environment, ...clock.environment };
  const ahead = await run(deployed.stack, ['deploy', 'status', '--json'], { environment });
  expect(documents(ahead)).toMatchObject([
    { current: 'a', problems: [], versions: [{ buildId: 'a', isPolled: true }] },
  ]);
  const address = `127.0.0.1:${await freePort()}`;
  const ended = await run(deployed.stack, ['deploy', 'status'], {
    environment: { ...deployed.environment, TEMPORAL_ADDRESS: address },
  });
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining(`no Temporal at ${address}`) });
});

test('an operation that begins while no build is current says so', async () => {
  await deployed.worker('b1');
  await eventually('the server is up', () => answers(`${deployed.stack.base}/healthz`));
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
    /^waits for a worker of build b1; none (polls|has polled for .*): start one of that release, or see `longhaul deploy status`$/;
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

test('a worker takes deployment and build from its environment, and readers find them without it', async () => {
  const deploymentName = `team/${deployed.stack.taskQueue}`;
  const worker = deployed.stack.worker({
    LONGHAUL_WORKER_VERSIONING: 'true',
    TEMPORAL_DEPLOYMENT_NAME: deploymentName,
    TEMPORAL_WORKER_BUILD_ID: 'tag-1',
  });
  await eventually(
    () => `the worker polls: ${worker.output()}`,
    async () => (await versionOf('tag-1'))?.isPolled,
  );
  const { stdout } = await deployed.deploy('status');
  expect(stdout).toContain(`No build of ${deploymentName} is current`);
  await deployed.runPrinted(stdout, '--yes');
  await deployed.stack.ready();
  expect(await doctor()).toEqual([
    expect.objectContaining({ status: 'ok', detail: `${deploymentName}, current build tag-1` }),
  ]);
  const token = await deployed.stack.client.start('confirm_delete', { filename: 'a.txt' });
  await deployed.stack.client.until(token, 'input_required');
  await deployed.runsOn(token, 'tag-1');

  // Without workers and a current version, the open operation names the deployment.
  await worker.end('SIGKILL');
  await temporal.run(
    ...['worker', 'deployment', 'set-current-version', '--deployment-name', deploymentName],
    ...['--unversioned', '--yes'],
  );
  await eventually('the operation is counted, and no worker polls', async () => {
    const { versions } = await status();
    return versions[0]?.buildId === 'tag-1' && versions[0].openOperations === 1 && !versions[0].isPolled;
  });
  expect(documents(await deployed.deploy('status', '--json'))).toMatchObject([
    { deployment: deploymentName, current: null, versions: [{ buildId: 'tag-1', workers: [] }] },
  ]);
});

test('a worker of a further build says that it gets no work, and is taken once there is room', async () => {
  await deployed.worker('b1');
  await deployed.worker('b2');
  const worker = deployed.stack.worker({ LONGHAUL_WORKER_VERSIONING: 'true' });
  const builds = async () =>
    (await describeDeployment(deployed.temporal.client, deployed.deploymentName))!.versions.map(
      (one) => one.buildId,
    );
  let versions: string[] = [];
  const [, buildId] = await eventually(
    () => `the worker is refused, beside ${versions.join()}: ${worker.output()}`,
    async () => {
      versions = await builds();
      return /Temporal has not taken build (\S+) as a version of the deployment \S+, so this worker gets no work. The deployment has 2 versions/.exec(
        worker.output(),
      );
    },
  );
  expect((await builds()).sort()).toEqual(['b1', 'b2']);

  // Temporal removes a version that nothing needs once its worker has been gone for a while.
  await deployed.kill('b1');
  await eventually('the build is a version', async () => (await builds()).includes(buildId!));
  expect(await builds()).not.toContain('b1');
  await deployed.makeCurrent(buildId!);
});
