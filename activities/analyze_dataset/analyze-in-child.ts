/** Calls of the analysis in a process of their own: a file that crashes DuckDB ends one call, and not the worker. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { builtProgram } from '../../platform/home/program.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import type {
  Analysis,
  AnalysisCall,
  AnalysisLimits,
  AnalysisMessage,
  AnalysisRequest,
} from './analysis-process.js';
import type { OnProgress } from './dataset.js';
import { DatasetError, unreadable } from './errors.js';

/** DuckDB's 512 MiB, as much for medians, which it doesn't count, and the rest of the process. */
const MEMORY_MB = 1280;

/** Share of the disk's free space for one call: four run at once. */
const DISK_SHARE = 0.2;

/** Signals by which a process ends itself. The others come from outside. */
const CRASHES = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'];

export type AnalysisResult<Name extends keyof Analysis> = Awaited<ReturnType<Analysis[Name]>>;

export interface InChildOptions {
  /** Kills the process; the call then rejects with the signal's reason. */
  signal: AbortSignal;
  onProgress: OnProgress;
  /** Default: 1280 MiB of memory, and a fifth of the disk's free space. */
  limits?: AnalysisLimits;
}

/**
 * Calls one function of the analysis in a child process, which is gone once this settles. Its temporary folder may then still hold
 * files.
 *
 * @throws DatasetError as the function does; `unreadable` if the process crashes; `out_of_memory` and `out_of_disk` if it is over
 * a limit
 * @throws Error if the process is killed from outside
 */
export async function analyzeInChild<Name extends keyof Analysis>(
  call: AnalysisCall<Name>,
  { signal, onProgress, limits }: InChildOptions,
): Promise<AnalysisResult<Name>> {
  const [given] = call.args as unknown as [string | DatasetQuery];
  const path = typeof given === 'string' ? given : given.path;
  const request: AnalysisRequest = {
    ...call,
    path,
    limits: limits ?? (await limitsOn(call.options.tempFolder)),
  };
  signal.throwIfAborted();
  const child = fork(builtProgram('analyze-dataset'), [], {
    // The worker's variables hold secrets.
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const kill = () => child.kill('SIGKILL');
  let answer: AnalysisMessage = {};
  child.on('message', (message: AnalysisMessage) => {
    if (message.progress) return onProgress(...message.progress);
    answer = message;
    kill();
  });
  signal.addEventListener('abort', kill, { once: true });
  try {
    // Without the process, the message fails too: its end says why.
    child.send(request, () => undefined);
    const [code, endedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    signal.throwIfAborted();
    const { result, failure } = answer;
    if (result !== undefined) return result as AnalysisResult<Name>;
    if (failure)
      throw failure.code ? new DatasetError(failure.code, failure.message) : new Error(failure.message);
    if (endedBy && CRASHES.includes(endedBy))
      throw unreadable(`path: expected data that DuckDB can read; ${path} crashes it (${endedBy})`);
    throw new Error(`the process that read ${path} was ended (${endedBy ?? `exit code ${code}`})`);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function limitsOn(folder: string): Promise<AnalysisLimits> {
  const { bavail, bsize } = await statfs(folder);
  return { memoryMb: MEMORY_MB, diskMb: Math.floor((bavail * bsize * DISK_SHARE) / 1024 ** 2) };
}
