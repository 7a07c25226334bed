/**
 * Private door to @temporalio/worker, seen in 1.24.0: the thread that evaluates workflows. If it ends, the SDK's own creator of workflows
 * ends the worker. The SDK's time limit of 5 s crashes Node.js 20 when it hits a promise hook.
 */
import type { Worker as Thread } from 'node:worker_threads';
import {
  ThreadedVMWorkflowCreator,
  type ThreadedVMWorkflowCreatorOptions,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type {
  Workflow,
  WorkflowCreateOptions,
  WorkflowCreator,
} from '@temporalio/worker/lib/workflow/interface.js';

export type { Workflow, WorkflowCreateOptions, WorkflowCreator };
export type Activation = Parameters<Workflow['activate']>[0];
export type Completion = Awaited<ReturnType<Workflow['activate']>>;

export interface WorkflowThread extends WorkflowCreator {
  /** Why the thread has ended by itself, or an empty text; undefined while it runs. */
  readonly endedBy: string | undefined;
  /** Ends it at once, also within a loop. */
  terminate(): Promise<void>;
}

const createThreads = ThreadedVMWorkflowCreator.create.bind(ThreadedVMWorkflowCreator);

/** Has Workers evaluate workflows with another creator. @param make gets a function that starts a thread with the Worker's bundle */
export function replaceWorkflowCreator(
  make: (start: () => Promise<WorkflowThread>) => Promise<WorkflowCreator>,
): void {
  ThreadedVMWorkflowCreator.create = (options) =>
    make(() => startThread(options)) as Promise<ThreadedVMWorkflowCreator>;
}

async function startThread(options: ThreadedVMWorkflowCreatorOptions): Promise<WorkflowThread> {
  const untimed = { threadPoolSize: 1, isolateExecutionTimeoutMs: undefined as unknown as number };
  const creator = await createThreads({ ...options, ...untimed });
  const [client] = (creator as unknown as { workerThreadClients: { workerThread: Thread }[] })
    .workerThreadClients;
  const { workerThread } = client!;
  let failure = '';
  let endedBy: string | undefined;
  workerThread.on('error', (error: unknown) => (failure = String(error)));
  workerThread.on('exit', () => (endedBy = failure));
  return {
    get endedBy() {
      return endedBy;
    },
    createWorkflow: (each) => creator.createWorkflow(each),
    destroy: () => creator.destroy(),
    terminate: async () => void (await workerThread.terminate()),
  };
}
