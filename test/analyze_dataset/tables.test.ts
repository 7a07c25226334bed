/**
 * Grouped, filtered and aggregated, random tables give what pandas computes from them, or a note names the column. Seeds follow
 * one another, so every failure can be repeated: LONGHAUL_TABLES_SEED is the first, LONGHAUL_TABLES how many.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inspect, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { INSTALL_LIMIT_MS } from '../support/install-once.js';
import { installVenv } from '../support/python.js';

const folder = resolve('test/analyze_dataset/python');
const COUNT = Number(process.env['LONGHAUL_TABLES'] ?? 200);
const FIRST = Number(process.env['LONGHAUL_TABLES_SEED'] ?? 1);
const PROCESSES = 2;
const MAX_SHOWN = Number(process.env['LONGHAUL_TABLES_SHOWN'] ?? 3);

let oracles: Oracle[] = [];
beforeAll(async () => {
  const first = await startOracle();
  const others = await Promise.all(Array.from({ length: PROCESSES - 1 }, () => startOracle()));
  oracles = [first, ...others];
}, INSTALL_LIMIT_MS);
afterAll(() => oracles.forEach((oracle) => oracle.end()));

test(
  `${COUNT} tables from seed ${FIRST}: answers are those of pandas, or a note names the column`,
  async () => {
    const failed = new Map<number, string[]>();
    let next = FIRST;
    await Promise.all(
      oracles.map(async (oracle) => {
        while (next < FIRST + COUNT && failed.size < MAX_SHOWN) {
          const seed = next++;
          const found = await differences(oracle, seed);
          if (found.length > 0) failed.set(seed, found);
          if ((seed - FIRST + 1) % 100 === 0)
            process.stderr.write(`${seed - FIRST + 1} tables, ${failed.size} failed\n`);
          if (found.length > 0) process.stderr.write(`seed ${seed}: ${found[0]}\n`);
        }
      }),
    );
    const reports = [...failed].map(([seed, found]) => `seed ${seed}: ${found.slice(0, 5).join('\n')}`);
    expect(reports.join('\n\n')).toBe('');
  },
  COUNT * 5_000 + 120_000,
);

interface Made {
  files: { path: string; format: string; style: string; given: Partial<DatasetQuery> }[];
}

/** One process of Python, which holds one table at a time. */
interface Oracle {
  ask<T>(request: Record<string, unknown>): Promise<T>;
  end(): void;
}

async function startOracle(): Promise<Oracle> {
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
async function differences(oracle: Oracle, seed: number): Promise<string[]> {
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
