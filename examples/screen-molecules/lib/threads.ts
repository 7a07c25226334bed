/** The threads of this worker: as many as it has cores, for all of its operations together. */
import { AsyncResource } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type * as functions from './thread.js';

const POOL = Symbol.for('screen-molecules.threads');

/** One pool for a process: this module is evaluated again with every edit of the activities. */
function threads(): Piscina {
  const shared = globalThis as { [POOL]?: Piscina };
  return (shared[POOL] ??= new Piscina({
    filename: new URL('./thread.js', import.meta.url).href,
    // Without one that stays, tasks would wait for ever after a cancel has ended all threads.
    minThreads: 1,
    maxThreads: availableParallelism(),
    idleTimeout: 20_000,
  }));
}

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
    return await threads().run({ ...task, port: port2 }, { name, signal, transferList: [port2] });
  } finally {
    port1.close();
  }
}
