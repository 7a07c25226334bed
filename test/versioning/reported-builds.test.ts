/** What a worker says of older builds that it can't serve. The client answers as a Temporal with one older build. */
import { expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { BuildsHost } from '../../worker/builds-host.js';
import type { KeptBundles } from '../../worker/kept-bundles.js';
import type { ReplayCheck } from '../../worker/replay-check.js';
import type { WorkerGroup } from '../../worker/worker-group.js';

/** Errors of a worker that starts while `older` is current. @param open number of its open workflows */
async function errorsWith(open: number): Promise<string[]> {
  const errors: string[] = [];
  const version = { deploymentVersion: { buildId: 'older' } };
  const client = {
    options: { namespace: 'default' },
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
    workflowService: {
      describeWorkerDeployment: async () => ({
        workerDeploymentInfo: {
          routingConfig: { currentDeploymentVersion: version.deploymentVersion },
          versionSummaries: [version],
        },
      }),
      countWorkflowExecutions: async () => ({ count: open }),
      describeTaskQueue: async () => ({ pollers: [] }),
    },
  } as unknown as Client;
  const log = () => undefined;
  const host = new BuildsHost({
    ...{ taskQueue: 'queue', deploymentName: 'longhaul-queue', identity: 'worker' },
    logger: {
      ...{ info: log, warn: log, debug: log },
      error: (_fields: unknown, text: string) => errors.push(text),
    } as any,
    client: () => client,
    replays: {} as ReplayCheck,
    // Workers that end at once: what follows is of no interest.
    createWorkers: () => Promise.reject(new Error('no workers')),
    kept: {
      list: () => [],
      find: () => undefined,
      keep: (bundle: object) => bundle,
    } as unknown as KeptBundles,
  } as ConstructorParameters<typeof BuildsHost>[0] & { createWorkers: () => Promise<WorkerGroup> });
  await expect(host.start({ buildId: 'newest' } as any)).rejects.toThrow('no workers');
  host.stop();
  return errors;
}

test('an older build that can not be served is reported if open workflows wait for it', async () => {
  expect(await errorsWith(2)).toEqual([
    expect.stringMatching(/^2 open workflows of operations wait for a worker of build older: /),
  ]);
});

test('an older build without open workflows is not reported', async () => {
  expect(await errorsWith(0)).toEqual([]);
});
