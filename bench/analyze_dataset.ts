/**
 * Memory that analyze_dataset needs for a file of 2 GB; the bound is 1 GB. Generates the file, profiles every column and groups
 * it (also into as many groups as rows) in a child process, and compares the child's peak resident set with the bound.
 *
 *     node --import jiti/register bench/analyze_dataset.ts [megabytes] [csv|parquet|json ...]
 *
 * Default: 2048 megabytes, parquet and csv. 50 megabytes are enough for a smoke test.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance, quotedString } from '@duckdb/node-api';
import { inspect, profileColumns, runQuery } from '../activities/analyze_dataset/analysis.js';

const BOUND_BYTES = 1024 ** 3;
const SAMPLE_ROWS = 200_000;
const COLUMNS = `range AS id, range % 1000 AS shop, (range * 7919) % 250000 AS customer,
  timestamp '2001-01-01' + to_seconds(range % 100000000) AS sold_at, random() * 1000 AS price,
  random() AS discount, CASE WHEN range % 10 = 0 THEN NULL ELSE random() * 50 END AS weight,
  ['north', 'east', 'south', 'west'][1 + range % 4] AS region, 'article ' || (hash(range) % 40000) AS article,
  uuid()::VARCHAR AS receipt`;

interface Measured {
  peakBytes: number;
  seconds: Record<string, number>;
  rowCount: number;
}

async function generate(file: string, format: string, bytes: number): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '2',
    memory_limit: '2GB',
    temp_directory: path.dirname(file),
    preserve_insertion_order: 'false',
  });
  const connection = await instance.connect();
  const write = (rows: number) =>
    connection.run(
      `COPY (SELECT ${COLUMNS} FROM range(${rows})) TO ${quotedString(file)} (FORMAT ${format})`,
    );
  await write(SAMPLE_ROWS);
  await write(Math.ceil((SAMPLE_ROWS * bytes) / (await stat(file)).size));
  connection.closeSync();
  instance.closeSync();
}

async function measureInChild(file: string): Promise<Measured> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, fileURLToPath(import.meta.url), '--child', file],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`the measured process ended with ${String(code)}`);
  return JSON.parse(output) as Measured;
}

async function analyse(file: string): Promise<Measured> {
  const options = {
    onProgress: () => undefined,
    dataFolders: { folders: [path.dirname(file)], privatePaths: [] },
    tempFolder: path.join(path.dirname(file), 'scratch'),
  };
  await mkdir(options.tempFolder, { recursive: true });
  const seconds: Record<string, number> = {};
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const from = performance.now();
    const result = await work();
    seconds[name] = Math.round((performance.now() - from) / 100) / 10;
    return result;
  };
  const inspection = await timed('inspect', () => inspect(file, options));
  const withReading = { ...options, reading: inspection.reading };
  await timed('profile', async () => {
    for (const batch of inspection.profileBatches) await profileColumns(file, batch, withReading);
  });
  const group = (columns: string[]) =>
    runQuery(
      {
        path: file,
        group_by: columns,
        aggregates: [{ fn: 'count' }, { fn: 'avg', column: 'price' }, { fn: 'sum', column: 'weight' }],
        order_by: [{ column: 'avg_price', direction: 'desc' }],
        limit: 50,
      },
      withReading,
    );
  await timed('group', () => group(['region', 'customer']));
  // One group per row: must spill to disk.
  await timed('spill', () => group(['receipt']));
  return { peakBytes: process.resourceUsage().maxRSS * 1024, seconds, rowCount: inspection.rowCount };
}

async function main(megabytes: number, formats: string[]): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'analyze-dataset-'));
  try {
    for (const format of formats) {
      const file = path.join(folder, `sales.${format}`);
      await generate(file, format, megabytes * 1024 ** 2);
      const { size } = await stat(file);
      const { peakBytes, seconds, rowCount } = await measureInChild(file);
      const passed = peakBytes <= BOUND_BYTES;
      if (!passed) process.exitCode = 1;
      console.log(
        `${format}: ${inMb(size)} MB, ${rowCount} rows; peak ${inMb(peakBytes)} MB = ${(peakBytes / size).toFixed(2)} ` +
          `of the file; inspect ${seconds.inspect} s, profile ${seconds.profile} s, group ${seconds.group} s, ` +
          `group each row ${seconds.spill} s; ` +
          `${passed ? 'pass' : 'FAIL'} (bound: ${inMb(BOUND_BYTES)} MB)`,
      );
      await rm(file);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function inMb(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--child') console.log(JSON.stringify(await analyse(rest[0]!)));
else await main(Number(first ?? 2048), rest.length > 0 ? rest : ['parquet', 'csv']);
