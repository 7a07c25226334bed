/** A Temporal without Worker Deployments: workers have no versions, and everything else works. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

let proxy: TemporalProxy;
let reason: { code: number; message: string };
beforeAll(async () => {
  proxy = await TemporalProxy.start(({ method }) =>
    method === 'DescribeWorkerDeploymentVersion' ? reason : undefined,
  );
});
afterAll(() => proxy?.close());

test.each([
  ['that turns them off', { code: 7, message: 'Worker Deployment Versions are disabled on this namespace.' }],
  ['that is too old for them', { code: 12, message: 'unknown method DescribeWorkerDeploymentVersion' }],
])(
  'on a Temporal %s, workers run without versions, and say so once',
  async (_, refusal) => {
    reason = refusal;
    // Own stack: a proxy refuses calls about versions.
    const stack = await TestStack.start({
      TEMPORAL_ADDRESS: proxy.address,
      LONGHAUL_WORKER_VERSIONING: 'true',
    });
    try {
      const taskId = await stack.client.start('confirm_delete', { filename: 'a.txt' });
      const { inputRequests } = await stack.client.until(taskId, 'input_required');
      const answer = { action: 'accept', content: { confirm: true } };
      await stack.client.answer(taskId, Object.keys(inputRequests)[0]!, answer);
      await stack.client.until(taskId, 'completed');
      const said = stack.parts.flatMap((part) =>
        part
          .output()
          .split('\n')
          .filter((line) => line.includes('this Temporal has no Worker Deployments')),
      );
      expect(said).toEqual([expect.stringContaining(refusal.message)]);
    } finally {
      await stack.stop();
    }
  },
  PROCESSES_MS,
);
