/** A stack for each benchmark, and measurement helpers. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { eventually, TestHome } from '../test/stack/cli-process.js';
import { WireClient } from '../test/support/mcp.js';

/** `--short`: a twentieth of the counts, to check that a benchmark runs to its end. Its figures are not kept. */
export const IS_SHORT = process.argv.includes('--short');

/** A count, or a twentieth of it with `--short`. */
export function shortened(count: number, least = 1): number {
  return IS_SHORT ? Math.max(least, Math.ceil(count / 20)) : count;
}

export interface Stack {
  home: TestHome;
  client: WireClient;
  taskQueue: string;
  serverPid: number;
  temporalAddress: string;
}

/**
 * Starts the built stack on a temporary home and free ports, runs the work, and stops the stack.
 *
 * @param environment additional environment variables of the stack
 */
export async function withStack(
  work: (stack: Stack) => Promise<void>,
  environment: Record<string, string> = {},
): Promise<void> {
  const home = await TestHome.create();
  const taskQueue = 'bench';
  try {
    await home.up({
      LONGHAUL_PROJECT: resolve('bench/project'),
      LONGHAUL_TASK_QUEUE: taskQueue,
      LONGHAUL_LOG_LEVEL: 'warn',
      ...environment,
    });
    await work({
      home,
      client: new WireClient(`${home.url}/mcp`),
      taskQueue,
      serverPid: home.parts().server,
      temporalAddress: home.state().temporalAddress as string,
    });
  } finally {
    await home.remove();
  }
}

/** Measurements of many runs of a function. */
export interface Measured {
  p50Ms: number;
  p99Ms: number;
  perSecond: number;
  /** CPU time of the process `pid` per run, in milliseconds. */
  cpuMs: number;
}

/** Durations of runs, and of all of them together. */
export interface Timed {
  tookMs: number[];
  totalMs: number;
}

/** Runs a function many times, at most `atOnce` at a time, and times each run. */
export async function timeRuns(
  count: number,
  atOnce: number,
  run: (index: number) => Promise<unknown>,
): Promise<Timed> {
  const tookMs: number[] = [];
  let next = 0;
  const start = performance.now();
  const lane = async () => {
    while (next < count) {
      const index = next++;
      const from = performance.now();
      await run(index);
      tookMs.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { tookMs, totalMs: performance.now() - start };
}

/**
 * Runs a function many times and measures each run.
 *
 * @param atOnce number of concurrent runs
 * @param pid process whose CPU time is measured
 */
export async function measure(
  count: number,
  atOnce: number,
  pid: number,
  run: (index: number) => Promise<unknown>,
): Promise<Measured> {
  const cpu = cpuMs(pid);
  const { tookMs, totalMs } = await timeRuns(count, atOnce, run);
  return {
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    perSecond: (count / totalMs) * 1000,
    cpuMs: (cpuMs(pid) - cpu) / count,
  };
}

/**
 * Quantile: the value below which this share of all values lies.
 *
 * @param values at least one
 * @param share from 0, the least value, to 1, the greatest
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** CPU time that a process has used, in milliseconds. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

/** Peak resident memory of a process, in MB. */
export function peakMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

/** Waits until as many workflows fit a query; looks once a second, and through time-outs of a busy Temporal. */
export async function untilCount(
  temporal: Client,
  query: string,
  wanted: number,
  limitMs = 900_000,
): Promise<void> {
  let last: number | undefined;
  await eventually(
    () => `${wanted} of ${query}; last ${last}`,
    async () => {
      last = (await temporal.workflow.count(query).catch(() => undefined))?.count;
      if (last !== wanted) await sleep(1_000);
      return last === wanted;
    },
    limitMs,
  );
}

/** Workflow IDs that fit a query; again if a busy Temporal times out. */
export async function idsOf(temporal: Client, query: string): Promise<string[]> {
  return eventually(query, async () => {
    const ids: string[] = [];
    try {
      for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
      return ids;
    } catch (error) {
      console.error(String(error));
      return undefined;
    }
  });
}

/** Size of Temporal's embedded database, with its write-ahead log, in MB. */
export function databaseMb({ home }: Pick<Stack, 'home'>): number {
  const files = readdirSync(home.path).filter((name) => name.startsWith('temporal.db'));
  return files.reduce((sum, name) => sum + statSync(join(home.path, name)).size, 0) / 1024 ** 2;
}

/** Rows as a Markdown table. */
export function markdownTable(header: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Prints rows as a Markdown table. */
export function printTable(header: string[], rows: string[][]): void {
  console.log(markdownTable(header, rows));
}

/** Prints the table, and writes it with its figures to `bench/results/NAME.json`, except with `--short`. */
export function report(name: string, header: string[], rows: string[][], figures: object): void {
  printTable(header, rows);
  if (IS_SHORT) return;
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
  const result = { measuredAt: new Date().toISOString(), machine, table: { header, rows }, ...figures };
  const folder = resolve('bench/results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(resolve(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}
