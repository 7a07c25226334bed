/** Calls of the analysis in a process of their own: a file that crashes DuckDB ends one call, and not the worker. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { builtProgram } from '../../platform/home/program.js';
import type {
  AnalysisAnswer,
  AnalysisCall,
  AnalysisFunctions,
  AnalysisLimits,
  AnalysisMessage,
  AnalysisRequest,
  AnalysisResult,
} from './analysis-process.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { DatasetError, unreadable } from './errors.js';
import type { OnProgress } from './session.js';

/** DuckDB's 512 MiB, as much for medians, which it doesn't count, and the rest of the process. */
const MEMORY_MB = 1280;

/** Share of the disk's free space for one call: four run at once. */
const DISK_SHARE = 0.2;

/** Signals by which a process ends itself. The others come from outside. */
const CRASHES = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'];

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
export async function analyzeInChild<Name extends keyof AnalysisFunctions>(
  call: AnalysisCall<Name>,
  { signal, onProgress, limits }: InChildOptions,
): Promise<AnalysisResult<Name>> {
  const request: AnalysisRequest = { ...call, limits: limits ?? (await limitsOn(call.options.tempFolder)) };
  signal.throwIfAborted();
  const child = fork(builtProgram('analyze-dataset'), [], {
    // The worker's variables hold secrets.
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const kill = () => child.kill('SIGKILL');
  let answer: AnalysisAnswer | undefined;
  child.on('message', (message: AnalysisMessage) => {
    if ('progress' in message) return onProgress(message.progress);
    answer = message;
    kill();
  });
  signal.addEventListener('abort', kill, { once: true });
  try {
    // Without the process, the message fails too: its end says why.
    child.send(request, () => undefined);
    const [code, endedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    signal.throwIfAborted();
    if (answer && 'result' in answer) return answer.result as AnalysisResult<Name>;
    throw errorOf(answer ?? { endedBy: endedBy ?? `exit code ${code}` }, request);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function limitsOn(folder: string): Promise<AnalysisLimits> {
  const { bavail, bsize } = await statfs(folder);
  return { memoryMb: MEMORY_MB, diskMb: Math.floor((bavail * bsize * DISK_SHARE) / 1024 ** 2) };
}

function errorOf(
  end: Exclude<AnalysisAnswer, { result: unknown }> | { endedBy: string },
  { args, limits }: AnalysisRequest,
): Error {
  const [given] = args as [string | DatasetQuery];
  const path = typeof given === 'string' ? given : given.path;
  if ('failure' in end) {
    const { code, message } = end.failure;
    return code === undefined ? new Error(message) : new DatasetError(code, message);
  }
  if ('endedBy' in end)
    return CRASHES.includes(end.endedBy)
      ? unreadable(`path: expected data that DuckDB can read; ${path} crashes it (${end.endedBy})`)
      : new Error(`the process that read ${path} was ended (${end.endedBy})`);
  const needs = (what: string) =>
    `the call on ${path} needs more than ${what}; filter more rows away, group by columns with fewer values, or use avg instead of median`;
  return end.exceeded === 'memoryMb'
    ? new DatasetError('out_of_memory', needs(`${limits.memoryMb} MiB of memory`))
    : new DatasetError(
        'out_of_disk',
        needs(`${limits.diskMb} MiB of temporary disk, a fifth of the free space`),
      );
}
