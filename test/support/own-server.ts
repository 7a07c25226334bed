/** Servers with settings of their own whose worker is the run's: `TestStack.shared()` has no other settings than the defaults. */
import { TestStack } from './test-stack.js';

/** Settings with which a server starts operations on the queue of the run's worker. */
export function onSharedQueue(environment: Record<string, string>): Record<string, string> {
  const { LONGHAUL_TEST_SHARED_TASK_QUEUE: taskQueue } = process.env;
  if (!taskQueue) throw new Error('test/global-setup.js has started no shared stack');
  return { LONGHAUL_TASK_QUEUE: taskQueue, ...environment };
}

/**
 * A server that is ready to be called.
 *
 * @param port of the server. Default: a free one
 */
export async function startOwnServer(environment: Record<string, string>, port?: number): Promise<TestStack> {
  const stack = await TestStack.serverAlone(onSharedQueue(environment), port);
  try {
    await stack.ready();
  } catch (error) {
    await stack.stop('SIGKILL');
    throw error;
  }
  return stack;
}
