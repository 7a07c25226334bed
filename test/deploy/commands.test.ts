/** `longhaul deploy status` and the commands of docs/upgrade.md against workers of several builds. */
import { expect, jest, test } from '@jest/globals';
import { setCurrentVersion } from '../../platform/deployments.js';
import { documents, run } from '../cli/commands.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { deployForEachTest, type Deployed } from './support.js';

jest.setTimeout(STACK_MS);

interface Status {
  current: string | null;
  ramping: { buildId: string; percentage: number } | null;
  versions: { buildId: string; status: string; openOperations: number; isPolled: boolean }[];
  problems: { detail: string; advice: string }[];
}

let deployed: Deployed;
deployForEachTest((one) => (deployed = one));

const status = async () => documents<Status>(await deployed.deploy('status', '--json'))[0]!;
const versionOf = async (buildId: string) =>
  (await status()).versions.find((version) => version.buildId === buildId);
/** Waits until visibility counts this many open operations on a build. */
const untilOpen = (buildId: string, count: number) =>
  eventually(
    `${count} operations are open on ${buildId}`,
    async () => (await versionOf(buildId))?.openOperations === count,
  );

test('new operations go to the current build, and open ones stay where they began', async () => {
  expect((await deployed.deploy('status')).stdout).toContain('No versioned worker has polled');
  await deployed.worker('b1');
  expect(await status()).toMatchObject({ current: null, versions: [{ buildId: 'b1', status: 'inactive' }] });
  await deployed.makeCurrent('b1');
  await deployed.runsOn(await deployed.operation(), 'b1');
  await deployed.worker('b2');
  await deployed.makeCurrent('b2');
  await deployed.runsOn(await deployed.operation(), 'b2');
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
});

test('a ramp takes a share, and ends', async () => {
  await deployed.worker('b1');
  await deployed.makeCurrent('b1');
  await deployed.worker('b2');
  await deployed.documented(/--percentage/, 'b2');
  expect(await status()).toMatchObject({ current: 'b1', ramping: { buildId: 'b2', percentage: 10 } });
  expect((await deployed.deploy('status')).stdout).toMatch(/^b2 +ramping 10 %/m);
  await deployed.documented(/--delete/, 'b2');
  expect(await status()).toMatchObject({ current: 'b1', ramping: { buildId: 'b2', percentage: 0 } });
});

test('as `longhaul up` makes its build current, the ramp of another build ends', async () => {
  await deployed.worker('b1');
  await deployed.makeCurrent('b1');
  await deployed.worker('b2');
  await deployed.documented(/--percentage/, 'b2');
  const { deploymentName, temporal } = deployed;
  const signal = AbortSignal.timeout(PROCESSES_MS);
  await setCurrentVersion(temporal.client, { deploymentName, buildId: 'b1' }, { signal });
  expect(await status()).toMatchObject({ current: 'b1', ramping: null });
});

test('a build is deleted once nothing needs it', async () => {
  await deployed.worker('b1');
  await deployed.makeCurrent('b1');
  const token = await deployed.operation();
  await deployed.runsOn(token, 'b1');
  await deployed.worker('b2');
  await deployed.makeCurrent('b2');
  await untilOpen('b1', 1);
  await deployed.finish(token);
  await eventually('b1 is drained', async () => (await versionOf('b1'))?.status === 'drained');
  expect((await deployed.deploy('status')).stdout).not.toContain('would wait');
  await deployed.kill('b1');
  await deployed.documented(/delete-version/, 'b1');
  expect((await status()).versions.map(({ buildId }) => buildId)).toEqual(['b2']);
});

test('without Temporal, `deploy status` says so', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const ended = await run(deployed.stack, ['deploy', 'status'], {
    environment: { ...deployed.environment, TEMPORAL_ADDRESS: address },
  });
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining(`no Temporal at ${address}`) });
});
