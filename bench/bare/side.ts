/** Bare Temporal as a side of a comparison: Temporal's own client, and a worker with its SDK alone. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { pollUntilDone, type Side } from '../sides.js';
import type { Stack } from '../support.js';

/** Calls by Temporal's client in this process. */
export function bareTemporal(client: Client, taskQueue: string, pids: Side['pids']): Side {
  const start = async (workflow: string) => {
    const workflowId = randomUUID();
    await client.workflow.start(workflow, { workflowId, taskQueue, args: [{}] });
    return workflowId;
  };
  const describe = (workflowId: string) => client.workflow.getHandle(workflowId).describe();
  return {
    name: 'Temporal',
    pids,
    start,
    read: describe,
    async run(workflow) {
      const workflowId = await start(workflow);
      await pollUntilDone(async () => (await describe(workflowId)).status.name !== 'RUNNING');
    },
  };
}

/** Starts the bare worker, and ends it after the work. */
export async function withBareWorker(
  { temporalAddress }: Stack,
  work: (pid: number, taskQueue: string) => Promise<void>,
): Promise<void> {
  const taskQueue = 'bench-bare';
  const child = spawn(process.execPath, ['bench/bare/worker.js', temporalAddress, taskQueue], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((settle) => child.once('close', settle));
  try {
    await work(child.pid!, taskQueue);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}
