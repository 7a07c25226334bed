/** Phases of a run over many open operations: start, ask, read, answer, close; with the cost of each. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, databaseMb, quantile, residentMb, timeRuns, type Stack } from '../support.js';

export type Part = 'server' | 'worker' | 'temporal';
export const PARTS: readonly Part[] = ['server', 'worker', 'temporal'];

/** Memory and disk at one time. */
export interface Sample {
  name: string;
  /** Resident memory of each process, in MB. */
  memoryMb: Record<Part, number>;
  databaseMb: number;
}

/** A phase of as many calls. */
export interface Phase {
  calls: number;
  /** Time until the last effect of the calls, in seconds. */
  seconds: number;
  /** Rate of the calls alone. */
  callsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time per call, with its effects, in milliseconds. */
  cpuMs: Record<Part | 'client', number>;
}

/** CPU time a second of each process over a while in which nothing is called, in milliseconds. */
export interface Steady {
  /** Operations that are open in this state. */
  operations: number;
  cpuMs: Record<Part, number>;
}

/** A run, as bench/results/scale-N.json has it. */
export interface ScaleRun {
  operations: number;
  samples: Record<'idle' | 'open' | 'read' | 'closed' | 'rested', Sample>;
  phases: Record<'start' | 'read' | 'answer', Phase>;
  /** Nothing is open; operations are watched on subscriptions; each operation runs an activity, which heartbeats. */
  steady: Record<'idle' | 'watched' | 'active', Steady>;
  /** Highest resident memory of the worker, in MB. */
  workerPeakMb: number;
  /** Counts of one operation with one answered question. */
  history: { events: number; actions: number; workflowTasks: number; transitions: number };
}

export function sample(stack: Stack, name: string): Sample {
  const pids = stack.home.parts();
  const memoryMb = Object.fromEntries(PARTS.map((part) => [part, Math.round(residentMb(pids[part]))]));
  return { name, memoryMb: memoryMb as Record<Part, number>, databaseMb: Math.round(databaseMb(stack)) };
}

/**
 * @param effects resolves once the effects of all calls are there. Default: at once
 */
export async function phase(
  { home }: Stack,
  calls: number,
  atOnce: number,
  call: (index: number) => Promise<unknown>,
  effects: () => Promise<unknown> = async () => undefined,
): Promise<Phase> {
  const pids = home.parts();
  const used = () => ({
    ...Object.fromEntries(PARTS.map((part) => [part, cpuMs(pids[part])])),
    client: cpuMs(process.pid),
  });
  const before: Record<string, number> = used();
  const start = performance.now();
  const { tookMs, totalMs } = await timeRuns(calls, atOnce, call);
  await effects();
  const seconds = (performance.now() - start) / 1000;
  const after: Record<string, number> = used();
  const cpu = Object.fromEntries(
    Object.keys(after).map((key) => [key, (after[key]! - before[key]!) / calls]),
  );
  return {
    calls,
    seconds,
    callsPerSecond: (calls / totalMs) * 1000,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    cpuMs: cpu as Phase['cpuMs'],
  };
}

export async function steady({ home }: Stack, operations: number, forMs: number): Promise<Steady> {
  const pids = home.parts();
  const before = PARTS.map((part) => cpuMs(pids[part]));
  await sleep(forMs);
  const used = PARTS.map((part, at) => [part, ((cpuMs(pids[part]) - before[at]!) / forMs) * 1000]);
  return { operations, cpuMs: Object.fromEntries(used) as Record<Part, number> };
}
