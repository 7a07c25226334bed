/** A stack for each benchmark, and measurement helpers. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { TestHome } from '../test/stack/cli-process.js';
import { WireClient } from '../test/support/mcp.js';

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
  const tookMs: number[] = [];
  let next = 0;
  const cpu = cpuMs(pid);
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
  const seconds = (performance.now() - start) / 1000;
  return {
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    perSecond: count / seconds,
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

/** Prints rows as a Markdown table. */
export function printTable(header: string[], rows: string[][]): void {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  console.log([line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n'));
}

/** Prints the table, and writes it with its figures to `bench/results/NAME.json`. */
export function report(name: string, header: string[], rows: string[][], figures: object): void {
  printTable(header, rows);
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
  const result = { measuredAt: new Date().toISOString(), machine, table: { header, rows }, ...figures };
  const folder = resolve('bench/results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(resolve(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}
