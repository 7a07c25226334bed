import { mkdtempSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { DuckDBInstance } from '@duckdb/node-api';
import { inspect, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { ReadingOptions } from '../../activities/analyze_dataset/dataset.js';
import type { DatasetQuery, Filter } from '../../tools/analyze_dataset/index.js';

export const VEGA = fileURLToPath(new URL('../../node_modules/vega-datasets/data/', import.meta.url));
export const FLIGHTS = path.join(VEGA, 'flights-3m.parquet');

/** A report of progress. */
interface Report {
  share: number;
  message: string;
}

/** A folder with a `data` folder that is allowed. */
export interface Sandbox {
  root: string;
  data: string;
  reports: Report[];
  /** Options of one call: each has a temporary folder of its own. */
  readonly options: ReadingOptions;
  file(name: string, content: string | Buffer): Promise<string>;
  remove(): Promise<void>;
}

export async function sandbox(): Promise<Sandbox> {
  const root = await mkdtemp(path.join(tmpdir(), 'dataset-test-'));
  const data = path.join(root, 'data');
  await mkdir(data);
  const reports: Report[] = [];
  return {
    root,
    data,
    reports,
    get options() {
      return {
        onProgress: (share: number, message: string) => void reports.push({ share, message }),
        dataFolders: { folders: [data, VEGA], privatePaths: [] },
        tempFolder: mkdtempSync(path.join(root, 'scratch-')),
      };
    },
    async file(name, content) {
      const file = path.join(data, name);
      await writeFile(file, content);
      return file;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Rows that DuckDB gives for a query, without any code of Longhaul's in between. */
export async function plainSql(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  try {
    const reader = await connection.runAndReadAll(sql);
    return reader.getRowsJS().map((row) => row.map(comparable));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

function comparable(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  // Dates carry no "instanceof" across Jest's realms.
  if (Object.prototype.toString.call(value) === '[object Date]') {
    return (value as Date).toISOString().replace(/(\.000)?Z$/, '');
  }
  return value;
}

export async function refusal(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  const outcome = await call.then(
    () => undefined,
    (thrown: unknown) => thrown as { name: string; code: string; message: string },
  );
  expect(outcome?.name).toBe('DatasetError');
  return { code: outcome!.code, message: outcome!.message };
}

/** Small files, inspected and queried as the tool does it. */
export class ValueSandbox {
  private constructor(readonly box: Sandbox) {}

  static async make(): Promise<ValueSandbox> {
    return new ValueSandbox(await sandbox());
  }

  query(path: string, rest: Partial<DatasetQuery> = {}) {
    return runQuery({ path, limit: 100, ...rest }, this.box.options);
  }

  async rowsOf(path: string, ...filters: Filter[]) {
    return (await this.query(path, { filters })).rows;
  }

  /** Columns, rows and notes of a new file, less the note that every CSV file has. */
  async read(name: string, content: string | Buffer, given: Partial<DatasetQuery> = {}) {
    await this.box.file(name, content);
    const { columns, notes, rowCount, reading } = await inspect(name, { ...this.box.options, given });
    // A reading goes through Temporal's history as JSON.
    const passed = { ...this.box.options, reading: JSON.parse(JSON.stringify(reading)) };
    const { rows } = await runQuery({ path: name, limit: 1000 }, passed);
    return {
      names: columns.map((column) => column.name),
      types: columns.map(({ type }) => type),
      rows,
      rowCount,
      notes: notes.filter((note) => !note.startsWith('CSV is read with')),
      assumed: notes.find((note) => note.startsWith('CSV is read with')),
    };
  }

  /** Message of the error that refuses a new file. */
  async refused(name: string, content: string | Buffer, given: Partial<DatasetQuery> = {}): Promise<string> {
    await this.box.file(name, content);
    const { code, message } = await refusal(inspect(name, { ...this.box.options, given }));
    return `${code}: ${message}`;
  }
}

/** A file of JSON values, one a line. */
export function lines(values: unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
