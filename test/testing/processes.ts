import type { TestToolEnvironment } from '../support/test-environment.js';

/** PIDs of the environment's worker and server, by the home that their command lines name. */
export async function processesOf({ client, taskQueue }: TestToolEnvironment): Promise<number[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: taskQueue },
    taskQueueType: 1,
  });
  return [...new Set(pollers.map(({ identity }) => Number(/\d+/.exec(identity!)![0])))];
}
