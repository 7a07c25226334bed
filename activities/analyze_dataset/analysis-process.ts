/**
 * Program that does one call of the analysis: `analyzeInChild` forks it. It sends its progress and one answer, then waits for its
 * parent to end it.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, profileColumns, runQuery, writeParquet } from './analysis.js';
import type { ReadingOptions } from './dataset.js';
import { DatasetError, messageOf, type DatasetErrorCode } from './errors.js';
import type { Progress } from './session.js';

const FUNCTIONS = { inspect, profileColumns, runQuery, writeParquet };

export type AnalysisFunctions = typeof FUNCTIONS;

/** A call of one function. */
export interface AnalysisCall<Name extends keyof AnalysisFunctions> {
  name: Name;
  /** Without the options. */
  args: Parameters<AnalysisFunctions[Name]> extends [...infer Args, unknown] ? Args : never;
  options: Omit<ReadingOptions, 'onProgress'>;
}

export type AnalysisResult<Name extends keyof AnalysisFunctions> = Awaited<
  ReturnType<AnalysisFunctions[Name]>
>;

/** Limits of the process. */
export interface AnalysisLimits {
  /** Resident memory, in MiB. DuckDB spills at a lower limit of its own, and doesn't count all of its memory. */
  memoryMb: number;
  /** Size of the files in the temporary folder, in MiB. */
  diskMb: number;
}

/** Sent once, to the child. */
export interface AnalysisRequest {
  name: keyof AnalysisFunctions;
  args: unknown;
  options: Omit<ReadingOptions, 'onProgress'>;
  limits: AnalysisLimits;
}

/** The last message. */
export type AnalysisAnswer =
  | { result: unknown }
  /** Without a code, the error is no fault of the arguments. */
  | { failure: { message: string; code?: DatasetErrorCode } }
  | { exceeded: keyof AnalysisLimits };

export type AnalysisMessage = { progress: Progress } | AnalysisAnswer;

const CHECK_INTERVAL_MS = 100;

async function answer({ name, args, options, limits }: AnalysisRequest): Promise<AnalysisAnswer> {
  const onProgress = (progress: Progress) => send({ progress });
  const work = FUNCTIONS[name] as (...given: unknown[]) => Promise<unknown>;
  try {
    const done = work(...(args as unknown[]), { ...options, onProgress }).then((result) => ({ result }));
    return await Promise.race([done, exceeded(limits, options.tempFolder)]);
  } catch (thrown) {
    const message = messageOf(thrown);
    return { failure: thrown instanceof DatasetError ? { message, code: thrown.code } : { message } };
  }
}

/**
 * Resolves once this process is over a limit. Limits of the system won't do: where an allocation fails, DuckDB may wait forever,
 * and macOS ignores them.
 */
async function exceeded({ memoryMb, diskMb }: AnalysisLimits, folder: string): Promise<AnalysisAnswer> {
  for (;;) {
    if (process.memoryUsage.rss() > memoryMb * 1024 ** 2) return { exceeded: 'memoryMb' };
    if ((await bytesIn(folder)) > diskMb * 1024 ** 2) return { exceeded: 'diskMb' };
    await sleep(CHECK_INTERVAL_MS);
  }
}

/** Bytes on disk of the files in a folder, at any depth. */
async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  // Files may be removed meanwhile.
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile()) continue;
    const found = await stat(path.join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += (found?.blocks ?? 0) * 512;
  }
  return bytes;
}

function send(message: AnalysisMessage): void {
  // With a callback, a channel that has closed meanwhile is no unhandled error.
  process.send!(message, undefined, undefined, () => undefined);
}

// Ctrl-C reaches this process too; the worker lets its activities end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The worker is gone. An exit would wait for DuckDB's threads.
const end = () => process.kill(process.pid, 'SIGKILL');
process.on('disconnect', end);
if (!process.connected) end();
process.once('message', (request: AnalysisRequest) => void answer(request).then(send));
