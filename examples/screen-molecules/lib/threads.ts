/** The threads of this worker: as many as it has cores, for all of its operations together; idle ones end. */
import { AsyncResource } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type * as functions from './thread.js';

const pool = new Piscina({
  filename: new URL('./thread.js', import.meta.url).href,
  minThreads: 0,
  maxThreads: availableParallelism(),
  idleTimeout: 20_000,
});

type Functions = typeof functions;
type Task<Name extends keyof Functions> = Omit<Parameters<Functions[Name]>[0], 'port'>;

/**
 * Runs a function of thread.js.
 *
 * @param signal ends the thread in the middle of its computation
 * @param onProgress is called in the caller's asynchronous context
 */
export async function inThread<Name extends keyof Functions>(
  name: Name,
  task: Task<Name>,
  signal: AbortSignal,
  onProgress?: (progress: number) => void,
): Promise<Awaited<ReturnType<Functions[Name]>>> {
  const { port1, port2 } = new MessageChannel();
  if (onProgress) port1.on('message', AsyncResource.bind(onProgress));
  try {
    return await pool.run({ ...task, port: port2 }, { name, signal, transferList: [port2] });
  } finally {
    port1.close();
  }
}
