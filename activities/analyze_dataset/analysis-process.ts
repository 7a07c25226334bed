/**
 * Program that does one call of the analysis: `analyzeInChild` forks it. It sends its progress and one answer, then waits for its
 * parent to end it.
 */
import { rmSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as analysis from './analysis.js';
import type { OnProgress, ReadingOptions } from './dataset.js';
import { DatasetError, messageOf, type DatasetErrorCode } from './errors.js';

export type Analysis = typeof analysis;

/** A call of one function. */
export interface AnalysisCall<Name extends keyof Analysis> {
  name: Name;
  /** Without the options. */
  args: Parameters<Analysis[Name]> extends [...infer Args, unknown] ? Args : never;
  options: Omit<ReadingOptions, 'onProgress'>;
}

/** Limits of the process. */
export interface AnalysisLimits {
  /** Resident memory, in MiB. DuckDB spills at a lower limit of its own, and doesn't count all of its memory. */
  memoryMb: number;
  /** Size of the files in the temporary folder, in MiB. */
  diskMb: number;
}

/** Sent once, to the child. */
export interface AnalysisRequest {
  name: keyof Analysis;
  args: unknown;
  options: Omit<ReadingOptions, 'onProgress'>;
  limits: AnalysisLimits;
  /** The caller's path, for messages. */
  path: string;
}

/** Message of the child. The last one has a result or a failure: without a code, that is no fault of the arguments. */
export interface AnalysisMessage {
  progress?: Parameters<OnProgress>;
  result?: unknown;
  failure?: { message: string; code?: DatasetErrorCode };
}

const CHECK_INTERVAL_MS = 100;

async function answer(request: AnalysisRequest): Promise<AnalysisMessage> {
  const onProgress: OnProgress = (...progress) => send({ progress });
  const work = analysis[request.name] as (...given: unknown[]) => Promise<unknown>;
  try {
    const done = work(...(request.args as unknown[]), { ...request.options, onProgress });
    return { result: await Promise.race([done, endOverLimit(request)]) };
  } catch (thrown) {
    const message = messageOf(thrown);
    return { failure: thrown instanceof DatasetError ? { message, code: thrown.code } : { message } };
  }
}

/**
 * Throws once this process is over a limit. Limits of the system won't do: where an allocation fails, DuckDB may wait forever,
 * and macOS ignores them.
 */
async function endOverLimit({
  path,
  limits: { memoryMb, diskMb },
  options,
}: AnalysisRequest): Promise<never> {
  const over = (code: 'out_of_memory' | 'out_of_disk', limit: string) => {
    const cure = 'filter more rows away, group by columns with fewer values, or use avg instead of median';
    return new DatasetError(code, `the call on ${path} needs more than ${limit}; ${cure}`);
  };
  for (;;) {
    if (process.memoryUsage.rss() > memoryMb * 1024 ** 2)
      throw over('out_of_memory', `${memoryMb} MiB of memory`);
    if ((await bytesIn(options.tempFolder)) > diskMb * 1024 ** 2)
      throw over('out_of_disk', `${diskMb} MiB of temporary disk, a fifth of the free space`);
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
let folder: string | undefined;
/** The worker is gone. An exit would wait for DuckDB's threads. */
function end(): void {
  try {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
process.on('disconnect', end);
if (!process.connected) end();
process.once('message', (request: AnalysisRequest) => {
  folder = request.options.tempFolder;
  void answer(request).then(send);
});
