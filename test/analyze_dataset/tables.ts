/** Random tables, written and analysed by pandas and pyarrow, against the activities: see python/tables.py. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { installVenv } from '../support/python.js';

const folder = resolve('test/analyze_dataset/python');

interface Made {
  files: { path: string; format: string; style: string; given: Partial<DatasetQuery> }[];
}

/** One process of Python, which holds one table at a time. */
export interface Oracle {
  ask<T>(request: Record<string, unknown>): Promise<T>;
  end(): void;
}

export async function startOracle(): Promise<Oracle> {
  const bin = await installVenv('tables', join(folder, 'requirements.txt'));
  const child = spawn(join(bin, 'python'), ['-B', join(folder, 'tables.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ask: async <T>(request: Record<string, unknown>) => {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the Python process ended over ${JSON.stringify(request)}`);
      return JSON.parse(value) as T;
    },
    end: () => child.kill(),
  };
}

/** Each difference between the two, as a sentence; none when they agree. */
export async function differences(oracle: Oracle, seed: number): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'tables-'));
  try {
    const { files } = await oracle.ask<Made>({ step: 'make', seed, folder: root });
    const found: string[] = [];
    for (const [index, { path, format, style, given }] of files.entries()) {
      const failures = await fileDifferences(oracle, index, path, root, given).catch((thrown: unknown) => [
        `${(thrown as Error).message}`,
      ]);
      found.push(...failures.map((failure) => `${format} (${style}): ${failure}`));
    }
    return found;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function fileDifferences(
  oracle: Oracle,
  file: number,
  path: string,
  root: string,
  given: Partial<DatasetQuery>,
): Promise<string[]> {
  const options = {
    onProgress: () => undefined,
    dataFolders: { folders: [root], privatePaths: [] },
    tempFolder: join(root, 'scratch'),
  };
  await mkdir(options.tempFolder, { recursive: true });
  const inspection = await inspect(path, { ...options, given });
  const { queries, failures } = await oracle.ask<{
    queries: Omit<DatasetQuery, 'path'>[];
    failures: string[];
  }>({
    step: 'queries',
    file,
    inspection,
  });
  if (failures.length > 0) return failures;
  const answers = [];
  for (const query of queries) {
    answers.push(
      await runQuery({ ...query, path }, { ...options, reading: inspection.reading }).catch(
        (thrown: unknown) => ({
          error: (thrown as Error).message,
        }),
      ),
    );
  }
  const verdict = await oracle.ask<{ failures: string[] }>({ step: 'verdict', answers });
  return verdict.failures;
}
