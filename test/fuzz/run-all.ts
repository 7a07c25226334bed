/** Fuzzes a stack over every protocol, and checks what all of it has left behind. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../operations/json/defined.js';
import type { Protocol } from './corpus/entry.js';
import { PROTOCOLS } from './corpus/index.js';
import { fuzz, type FuzzReport } from './fuzz.js';
import { FuzzStack, type Memory } from './fuzz-stack.js';
import { fuzzStdio, STDIO } from './stdio.js';
import { slowSenders } from './slow-senders.js';

const MIB = 1024 * 1024;
/** Growth after the warm-up, in bytes. Caches fill: of tools, estimates, compiled patterns, sessions. */
const MOST_GROWTH = { used: 24 * MIB, rss: 192 * MIB };
/** Rests before the second look at a memory that has grown, in milliseconds: closed streams and sessions go by then. */
const REST_MS = 15_000;
/** Cases of the warm-up at most, for each protocol. A third of few. */
const WARM_UP_CASES = 300;

export interface RunOptions {
  seed: number;
  /** For each protocol. */
  cases: number;
  /** Number of the first case. Default: 0 */
  from?: number;
  /** Names of protocols. Default: all */
  protocols?: readonly string[];
  /** Also senders that the server closes after two minutes. Default: false */
  withSlowBodies?: boolean;
  /** Receives a report as soon as its protocol is done. */
  say?: (report: FuzzReport) => void;
  /** Receives each failure as soon as it is found. */
  sayFailure?: (failure: string) => void;
}

export interface RunReport {
  reports: FuzzReport[];
  operations: { started: number; accepted: number; unknown: number };
  memory: { warm: Memory; end: Memory };
  /** Texts; empty without any. */
  violations: string[];
}

/** Fuzzes a stack of its own. */
export async function fuzzStack(options: RunOptions): Promise<RunReport> {
  const stack = await FuzzStack.start();
  try {
    return await fuzzParts(stack, options);
  } finally {
    await stack.stop();
  }
}

/** @param stack on which nothing has been started */
export async function fuzzParts(stack: FuzzStack, options: RunOptions): Promise<RunReport> {
  const {
    seed,
    cases,
    from = 0,
    protocols,
    withSlowBodies = false,
    say = () => undefined,
    sayFailure,
  } = options;
  const { base } = stack;
  const isChosen = (name: string) => protocols?.includes(name) ?? true;
  const chosen = PROTOCOLS.filter(({ name }) => isChosen(name));
  const reports: FuzzReport[] = [];
  const run = async (protocol: Protocol, part: { from: number; cases: number }) => {
    const report = await fuzz({ base, protocol, seed, ...part, ...defined({ sayFailure }) });
    reports.push(report);
    return report;
  };
  const slow = slowSenders(base, withSlowBodies);
  const warmUp = Math.min(WARM_UP_CASES, Math.ceil(cases / 3));
  for (const protocol of chosen) await run(protocol, { from, cases: warmUp });
  const warm = await stack.memory();
  for (const protocol of cases > warmUp ? chosen : [])
    say(await run(protocol, { from: from + warmUp, cases: cases - warmUp }));
  if (isChosen(STDIO)) {
    const report = await fuzzStdio({ base, spawn: () => stack.stdio(), seed, cases, from });
    reports.push(report);
    say(report);
  }
  const slowViolations = await slow;
  const end = await restedMemory(stack, warm);
  const sum = (of: (report: FuzzReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  const operations = {
    started: await stack.countOperations(),
    accepted: sum(({ accepted }) => accepted),
    unknown: sum(({ unknown }) => unknown),
  };
  const names = [...new Set(reports.map(({ protocol }) => protocol))];
  return {
    reports: names.map((name) => merged(reports.filter(({ protocol }) => protocol === name))),
    operations,
    memory: { warm, end },
    violations: [
      ...reports.flatMap(({ failures }) => failures),
      ...slowViolations,
      ...(await stack.crashes()),
      ...grown(warm, end).map((what) => `memory: ${what}`),
      ...(operations.started > operations.accepted + operations.unknown
        ? [`operations: ${JSON.stringify(operations)}: some were started by requests that were refused`]
        : []),
    ],
  };
}

/** A memory that seems to have grown is measured again after a rest. */
async function restedMemory(stack: FuzzStack, warm: Memory): Promise<Memory> {
  await sleep(REST_MS);
  const first = await stack.memory();
  if (grown(warm, first).length === 0) return first;
  await sleep(REST_MS * 2);
  return stack.memory();
}

function grown(warm: Memory, end: Memory): string[] {
  return (['used', 'rss'] as const).flatMap((what) =>
    end[what] - warm[what] > MOST_GROWTH[what]
      ? [`${what} has grown from ${Math.round(warm[what] / MIB)} to ${Math.round(end[what] / MIB)} MiB`]
      : [],
  );
}

function merged(reports: FuzzReport[]): FuzzReport {
  const [first, ...others] = reports;
  const all: FuzzReport = {
    ...first!,
    statuses: new Map(first!.statuses),
    errorCodes: new Map(first!.errorCodes),
  };
  for (const report of others) {
    for (const what of ['cases', 'tookMs', 'accepted', 'unknown'] as const) all[what] += report[what];
    all.failures = [...all.failures, ...report.failures];
    for (const what of ['statuses', 'errorCodes'] as const)
      for (const [key, count] of report[what]) all[what].set(key, (all[what].get(key) ?? 0) + count);
  }
  return all;
}
