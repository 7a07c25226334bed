/** A deployment with as many versions as Temporal keeps. */
import { expect, jest, test } from '@jest/globals';
import { describeDeployment } from '../../platform/deployments.js';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { deployForEachTest, type Deployed } from './support.js';

jest.setTimeout(OUTAGE_MS);

let deployed: Deployed;
deployForEachTest((one) => (deployed = one), ['matching.maxVersionsInDeployment=2']);

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
