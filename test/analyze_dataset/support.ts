import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { DuckDBInstance } from '@duckdb/node-api';
import type { DatasetOptions, Progress } from '../../activities/analyze_dataset/session.js';

export const VEGA = fileURLToPath(new URL('../../node_modules/vega-datasets/data/', import.meta.url));
export const FLIGHTS = path.join(VEGA, 'flights-3m.parquet');

/** A folder with a `data` folder that is allowed, and a `scratch` folder beside it. */
export interface Sandbox {
  root: string;
  data: string;
  scratch: string;
  options: DatasetOptions & { reports: Progress[] };
  file(name: string, content: string | Buffer): Promise<string>;
  remove(): Promise<void>;
}

export async function sandbox(): Promise<Sandbox> {
  const root = await mkdtemp(path.join(tmpdir(), 'dataset-test-'));
  const data = path.join(root, 'data');
  const scratch = path.join(root, 'scratch');
  await mkdir(data);
  const reports: Progress[] = [];
  return {
    root,
    data,
    scratch,
    options: {
      onProgress: (report) => reports.push(report),
      reports,
      dataFolders: { folders: [data, VEGA], privatePaths: [] },
      tempFolder: scratch,
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
