/** Random tables, written and analysed by pandas and pyarrow, against the activities: see python/tables.py. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { installVenv } from '../support/python.js';

const folder = resolve('test/analyze_dataset/python');

export interface Table {
  seed: number;
  /** Indexes of the columns to keep. Default: all. */
  columns?: number[];
  /** The first row to keep, and the one after the last. Default: all. */
  rows?: [number, number];
}

interface Made {
  files: { path: string; format: string; style: string; given: Partial<DatasetQuery> }[];
  columns: number;
  rows: number;
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
export async function differences(oracle: Oracle, table: Table): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'tables-'));
  try {
    const made = await make(oracle, table, root);
    const found: string[] = [];
    for (const [index, { path, format, style, given }] of made.files.entries()) {
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

function make(oracle: Oracle, table: Table, root: string): Promise<Made> {
  return oracle.ask<Made>({ step: 'make', ...table, folder: root });
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

/** The smallest part of a table that still differs, with its CSV and JSON files, as text. */
export async function smallest(oracle: Oracle, seed: number): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'tables-'));
  try {
    const whole = await make(oracle, { seed }, root);
    let table: Required<Table> = {
      seed,
      columns: Array.from({ length: whole.columns }, (_, index) => index),
      rows: [0, whole.rows],
    };
    const fails = async (next: Required<Table>) => (await differences(oracle, next)).length > 0;
    for (const column of table.columns) {
      const next = { ...table, columns: table.columns.filter((kept) => kept !== column) };
      if (next.columns.length > 0 && (await fails(next))) table = next;
    }
    for (let part = Math.ceil(whole.rows / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2)) {
      for (const end of [0, 1]) {
        for (;;) {
          const [first, last] = table.rows;
          const rows: [number, number] = end === 0 ? [first + part, last] : [first, last - part];
          if (rows[1] <= rows[0] || !(await fails({ ...table, rows }))) break;
          table = { ...table, rows };
        }
      }
    }
    const { files } = await make(oracle, table, root);
    const texts = await Promise.all(
      files
        .filter(({ path }) => !/\.(parquet|gz)$/.test(path))
        .map(async ({ path }) => `${path}:\n${(await readFile(path, 'utf8')).slice(0, 2000)}`),
    );
    const found = await differences(oracle, table);
    return [
      `columns ${table.columns.join(', ')}, rows ${table.rows.join(' to ')}:`,
      ...found.slice(0, 5),
      ...texts,
    ].join('\n');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
