/** `longhaul deploy` against workers of several builds. */
import { expect, jest, test } from '@jest/globals';
import { deleteVersion, describeDeployment } from '../../platform/deployments.js';
import { documents, KEYS, run, Terminal } from '../cli/commands.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { FIXTURES } from '../support/test-stack.js';
import { deployForEachTest, type Deployed } from './support.js';

jest.setTimeout(STACK_MS);

interface Status {
  current: string | null;
  ramping: { buildId: string; percentage: number } | null;
  versions: { buildId: string; status: string; openOperations: number; isPolled: boolean }[];
  problems: { detail: string; advice: string }[];
  retirable: string[];
}

let deployed: Deployed;
deployForEachTest((one) => (deployed = one));

const status = async () => documents<Status>(await deployed.deploy('status', '--json'))[0]!;
const current = async () =>
  (await describeDeployment(deployed.temporal.client, deployed.deploymentName))?.current ?? null;
/** Waits until visibility counts this many open operations on a build. */
const untilOpen = (buildId: string, count: number) =>
  eventually(`${count} operations are open on ${buildId}`, async () => {
    const { versions } = await status();
    return versions.find((one) => one.buildId === buildId)?.openOperations === count;
  });

test('new operations go to the current build, and open ones stay where they began', async () => {
  expect((await deployed.deploy('status')).stdout).toContain('No versioned worker has polled');
  await deployed.worker('b1');
  expect(await status()).toMatchObject({ current: null, versions: [{ buildId: 'b1', status: 'inactive' }] });
  const first = await deployed.deploy('current', 'b1', '--yes');
  expect(first).toMatchObject({ code: 0, stdout: 'New operations go to b1.\n' });
  const token = await deployed.operation();
  await deployed.runsOn(token, 'b1');
  await deployed.worker('b2');
  await untilOpen('b1', 1);
  const second = await deployed.deploy('current', 'b2', '--yes');
  expect(second).toMatchObject({ code: 0, stdout: 'New operations go to b2.\n' });
  expect(second.stderr).toContain('New operations will go to b2 (now: b1).');
  expect(second.stderr).toContain('1 open operation on b1 will end there');
  const other = await deployed.operation();
  await deployed.runsOn(other, 'b2');
  await untilOpen('b2', 1);
  const table = (await deployed.deploy('status')).stdout;
  expect(table).toMatch(/^b2 +current +\S+Z +1 +1, last poll/m);
  expect(table).toMatch(/^b1 +draining +\S+Z +1 +1, last poll/m);
  expect(await deployed.deploy('current', 'b2')).toMatchObject({
    code: 0,
    stdout: 'b2 is current already.\n',
  });
  // Roll back.
  expect(await deployed.deploy('current', 'b1', '--yes')).toMatchObject({ code: 0 });
  await deployed.runsOn(await deployed.operation(), 'b1');
});

test('a ramp takes a share, ends with 0, and ends when another build becomes current', async () => {
  await deployed.worker('b1');
  const without = await deployed.deploy('ramp', '10', 'b1', '--yes');
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('no build of') });
  expect(await deployed.deploy('current', 'b1', '--yes')).toMatchObject({ code: 0 });
  await deployed.worker('b2');
  expect(await deployed.deploy('ramp', '12.5%', 'b2', '--yes')).toMatchObject({
    code: 0,
    stdout: '12.5 % of new operations go to b2.\n',
  });
  expect(await status()).toMatchObject({ current: 'b1', ramping: { buildId: 'b2', percentage: 12.5 } });
  expect((await deployed.deploy('status')).stdout).toMatch(/^b2 +ramping 12.5 %/m);
  expect(await deployed.deploy('ramp', '0', '--yes')).toMatchObject({ code: 0 });
  expect(await status()).toMatchObject({ current: 'b1', ramping: null });
  expect(await deployed.deploy('ramp', '100%', 'b2', '--yes')).toMatchObject({ code: 0 });
  await deployed.runsOn(await deployed.operation(), 'b2');
  const back = await deployed.deploy('current', 'b1', '--yes');
  expect(back).toMatchObject({ code: 0, stdout: 'New operations go to b1.\n' });
  expect(back.stderr).toContain('The ramp of b2 (100 %) will end.');
  const after = await status();
  expect(after.versions).toHaveLength(2);
  expect(after).toMatchObject({ current: 'b1', ramping: null });
  const bad = await deployed.deploy('ramp', '101', 'b2', '--yes');
  expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('expected a number from 0 to 100') });
  const same = await deployed.deploy('ramp', '10', 'b1', '--yes');
  expect(same).toMatchObject({ code: 1, stderr: expect.stringContaining('b1 is current already') });
});

test('a change is shown first: a terminal is asked, and without one --yes is expected', async () => {
  await deployed.worker('b1');
  const refused = await deployed.deploy('current', 'b1');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('expected --yes') });
  const { environment, stack } = deployed;
  const declined = new Terminal(stack, ['deploy', 'current', 'b1'], { environment });
  await declined.at('Continue?', KEYS.enter);
  await declined.shows('Nothing was changed.');
  expect(await current()).toBeNull();
  const accepted = new Terminal(stack, ['deploy', 'current', 'b1'], { environment });
  await accepted.at('Continue?', 'y');
  await accepted.shows('New operations go to b1.');
  expect(await accepted.ended).toBe(0);
  expect(await current()).toBe('b1');
});

test('of two people who deploy at once, the second one learns what has changed', async () => {
  for (const buildId of ['b1', 'b2', 'b3']) await deployed.worker(buildId);
  expect(await deployed.deploy('current', 'b1', '--yes')).toMatchObject({ code: 0 });
  const { environment, stack } = deployed;
  const second = new Terminal(stack, ['deploy', 'current', 'b3'], { environment, columns: 200 });
  await second.shows('Continue?');
  expect(await deployed.deploy('current', 'b2', '--yes')).toMatchObject({ code: 0 });
  second.type('y');
  await second.shows(/was changed meanwhile by \S+@\S+: b2 is current \(was: b1 is current\)/);
  expect(await second.ended).toBe(1);
  expect(await current()).toBe('b2');
  const both = await Promise.all([
    deployed.deploy('current', 'b1', '--yes'),
    deployed.deploy('current', 'b3', '--yes'),
  ]);
  const winner = await current();
  expect(['b1', 'b3']).toContain(winner);
  for (const { code, stdout, stderr } of both)
    expect(code === 0 ? stdout : stderr).toMatch(/New operations go to b[13]|was changed meanwhile by/);
});

test('a build that never polls does not become current', async () => {
  await deployed.worker('b1');
  expect(await deployed.deploy('current', 'b1', '--yes')).toMatchObject({ code: 0 });
  const late = await deployed.deploy('current', 'b9', '--yes', '--wait', '2');
  expect(late.code).toBe(1);
  expect(late.stderr).toContain('No worker of b9 polls yet; the command waits for one, for up to 2 s.');
  expect(late.stderr).toMatch(
    /no worker of build b9 has polled the task queue \S+ within 2 s; workers poll of b1; nothing was changed/,
  );
  expect(await current()).toBe('b1');
  // One that polls in time does, also with a limit that is longer than the longest timer.
  const waiting = deployed.deploy('current', 'b2', '--yes', '--wait', '3000000');
  await deployed.worker('b2');
  expect(await waiting).toMatchObject({ code: 0 });
  expect(await current()).toBe('b2');
});

test('without a name, the build is that of this release and project', async () => {
  const environment = { LONGHAUL_WORKER_VERSIONING: 'true' };
  deployed.stack.worker(environment);
  const ended = await run(deployed.stack, ['deploy', 'current', '--yes', '--wait', '120'], {
    environment: { ...deployed.environment, LONGHAUL_PROJECT: FIXTURES },
  });
  expect(ended).toMatchObject({ code: 0 });
  const buildId = (await current())!;
  expect(ended.stdout).toBe(`New operations go to ${buildId}.\n`);
  expect(buildId).toMatch(/^[\d.]+-[0-9a-f]{16}$/);
  await deployed.stack.ready();
  const token = await deployed.operation();
  await deployed.runsOn(token, buildId);
  await deployed.stack.client.until(token, 'completed');
  expect(await status()).toMatchObject({ current: buildId, versions: [{ buildId }], problems: [] });
});

test('without Temporal every command says so', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  for (const args of [
    ['status'],
    ['current', 'b1', '--yes'],
    ['ramp', '5', 'b1', '--yes'],
    ['retire', 'b1'],
  ]) {
    const ended = await run(deployed.stack, ['deploy', ...args], {
      environment: { ...deployed.environment, TEMPORAL_ADDRESS: address },
    });
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining(`no Temporal at ${address}`) });
  }
});

test('a build is retired once nothing needs it', async () => {
  await deployed.worker('b1');
  expect(await deployed.deploy('current', 'b1', '--yes')).toMatchObject({ code: 0 });
  const token = await deployed.operation();
  await deployed.runsOn(token, 'b1');
  const refusal = async (buildId = 'b1') => {
    const { code, stderr } = await deployed.deploy('retire', buildId, '--yes');
    expect(code).toBe(1);
    return stderr;
  };
  expect(await refusal('b7')).toMatch(/has no build "b7"; it has b1/);
  expect(await refusal()).toMatch(
    /b1 can't be retired: new operations go to it\. Make another build current/,
  );
  await deployed.worker('b2');
  expect(await deployed.deploy('ramp', '1', 'b2', '--yes')).toMatchObject({ code: 0 });
  expect(await refusal('b2')).toMatch(/End its ramp first/);
  expect(await deployed.deploy('current', 'b2', '--yes')).toMatchObject({ code: 0 });
  await untilOpen('b1', 1);
  expect(await refusal()).toMatch(
    new RegExp(
      `1 open operation can only run on it \\(${token}\\)\\. Wait for their end, cancel them, or move`,
    ),
  );
  await deployed.finish(token);
  await untilOpen('b1', 0);
  expect(await refusal()).toMatch(/workers of it have polled within 5 minutes .* End them, and try again/);
  await deployed.kill('b1');
  await eventually('b1 is drained, and nobody polls for it', async () =>
    (await status()).retirable.includes('b1'),
  );
  expect((await deployed.deploy('status')).stdout).toMatch(
    /Nothing needs b1\.\n {2}-> .* deploy retire BUILD/,
  );
  expect(await deployed.deploy('retire', 'b1', '--yes')).toMatchObject({ code: 0, stdout: 'Retired b1.\n' });
  expect((await status()).versions.map(({ buildId }) => buildId)).toEqual(['b2']);
  await expect(
    deleteVersion(
      deployed.temporal.client,
      { deploymentName: deployed.deploymentName, buildId: 'b2' },
      { isDrained: true },
    ),
  ).rejects.toMatchObject({
    kind: 'wrong_state',
    message: 'Version cannot be deleted since it is current or ramping',
  });
});
