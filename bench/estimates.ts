/**
 * Error of duration estimates. Runs analyze_dataset 20 times on files of five sizes, then on files of new sizes, and fails if
 * one of those estimates is more than 30 % off.
 *
 *     node --import jiti/register bench/estimates.ts [megabytes of the largest file]
 *
 * Default: 80 megabytes.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DuckDBInstance, quotedString } from '@duckdb/node-api';
import type { WireClient } from '../test/support/mcp.js';
import { eventually } from '../test/stack/cli-process.js';
import { printTable, withStack } from './support.js';

const BOUND = 0.3;
/** Maximum load average (one minute) of an idle machine. */
const IDLE_LOAD = 0.7;
/** File sizes as shares of the largest: those run {@link RUNS_EACH} times each, and the new ones, one of them larger than all. */
const SEEN = [0.0625, 0.125, 0.25, 0.5, 1];
const RUNS_EACH = 4;
const NEW = [0.18, 0.7, 1.4];
/** Time until the server has read past runs again, in milliseconds. */
const REFRESH_MS = 11_000;
const SAMPLE_ROWS = 100_000;
const COLUMNS = `range AS id, range % 1000 AS shop, (range * 7919) % 250000 AS customer,
  timestamp '2001-01-01' + to_seconds(range % 100000000) AS sold_at, random() * 1000 AS price,
  CASE WHEN range % 10 = 0 THEN NULL ELSE random() * 50 END AS weight,
  ['north', 'east', 'south', 'west'][1 + range % 4] AS region, 'article ' || (hash(range) % 40000) AS article`;

interface Run {
  megabytes: number;
  estimateSeconds: number;
  tookSeconds: number;
}

async function generate(folder: string, bytes: number[]): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  const write = async (name: string, rows: number) => {
    const file = path.join(folder, name);
    await connection.run(
      `COPY (SELECT ${COLUMNS} FROM range(${rows})) TO ${quotedString(file)} (FORMAT csv)`,
    );
    return (await stat(file)).size;
  };
  const bytesPerRow = (await write('sample.csv', SAMPLE_ROWS)) / SAMPLE_ROWS;
  const names: string[] = [];
  for (const [index, size] of bytes.entries()) {
    names.push(`sales-${index}.csv`);
    await write(names.at(-1)!, Math.ceil(size / bytesPerRow));
  }
  connection.closeSync();
  instance.closeSync();
  return names;
}

/** Calls a tool and returns the structured content of its result. */
async function call<Content>(client: WireClient, name: string, args: object): Promise<Content> {
  const answer = await client.request('tools/call', { name, arguments: args });
  return (answer.result as { structuredContent: Content }).structuredContent;
}

async function run(client: WireClient, folder: string, name: string): Promise<Run> {
  const { token, estimate_seconds } = await call<{ token: string; estimate_seconds: number }>(
    client,
    'analyze_dataset',
    {
      path: name,
      profile: true,
      artifact: false,
      group_by: ['region', 'customer'],
      aggregates: [{ fn: 'avg', column: 'price' }],
    },
  );
  const { worked_seconds } = await eventually(
    `${name} is analysed`,
    async () => {
      const { operations } = await call<{ operations: { token: string; worked_seconds: number }[] }>(
        client,
        'operation_list',
        { status: 'completed', limit: 5 },
      );
      return operations.find((one) => one.token === token);
    },
    120_000,
  );
  const megabytes = (await stat(path.join(folder, name))).size / 1e6;
  return { megabytes, estimateSeconds: estimate_seconds, tookSeconds: worked_seconds };
}

async function main(megabytes: number): Promise<void> {
  const [busy = 0] = loadavg();
  if (busy > IDLE_LOAD) console.log(`The machine is not idle (load ${busy.toFixed(1)}): times say little.\n`);
  const folder = await mkdtemp(path.join(tmpdir(), 'estimates-'));
  try {
    const names = await generate(
      folder,
      [...SEEN, ...NEW].map((share) => share * megabytes * 1e6),
    );
    await withStack(
      async ({ client }) => {
        const plain = client.with({});
        const past: Run[] = [];
        for (let round = 0; round < RUNS_EACH; round++)
          for (const name of names.slice(0, SEEN.length)) past.push(await run(plain, folder, name));
        // The first call finds its past runs out of date and refreshes them for the next one.
        await delay(REFRESH_MS);
        await run(plain, folder, names[0]!);
        const fresh: Run[] = [];
        for (const name of names.slice(SEEN.length)) fresh.push(await run(plain, folder, name));
        console.log(`After ${past.length} runs:\n`);
        printTable(
          ['file', 'estimate', 'took', 'off', `bound: ${BOUND * 100} %`],
          fresh.map((one) => {
            const off = (one.estimateSeconds - one.tookSeconds) / one.tookSeconds;
            if (Math.abs(off) > BOUND) process.exitCode = 1;
            return [
              `${one.megabytes.toFixed(1)} MB`,
              `${one.estimateSeconds.toFixed(2)} s`,
              `${one.tookSeconds.toFixed(2)} s`,
              `${off > 0 ? '+' : ''}${Math.round(off * 100)} %`,
              Math.abs(off) > BOUND ? 'FAIL' : 'pass',
            ];
          }),
        );
      },
      { LONGHAUL_DATA_FOLDERS: folder },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main(Number(process.argv[2] ?? 80));
