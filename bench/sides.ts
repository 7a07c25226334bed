/** Comparison of systems that do the same work: blocks of calls alternate between them in one run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, quantile, report, shortened, timeRuns, type Stack } from './support.js';

const ROUNDS = 4;
/** Operations that reads are spread over. */
const READ_OPERATIONS = 20;
/** Time for these to start or end, in milliseconds. */
const READ_PAUSE_MS = 2_000;
/** First and longest interval between polls, in milliseconds; each is twice the one before. */
const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 100;
/** Time after a block of calls, before CPU is read: for work that the calls left behind. */
const SETTLE_MS = 500;

/** One of the compared systems. */
export interface Side {
  name: string;
  /** Processes that work for it, by name. */
  pids: Record<string, number>;
  /** Starts the tool or workflow of this name. @returns its ID */
  start(work: string): Promise<string>;
  read(id: string): Promise<unknown>;
  /** Starts, and polls until it is completed. */
  run(work: string): Promise<void>;
}

export interface SideResult {
  p50Ms: number;
  p99Ms: number;
  perSecond: number;
  /** CPU time of each process per call, in milliseconds. */
  cpu: Record<string, number>;
}

/** Prepares a side, and gives its call. */
export type Prepare = (side: Side) => Promise<(index: number) => Promise<unknown>>;

interface Measurement {
  name: string;
  /** Calls of each side. */
  count: number;
  atOnce: number;
  prepare: Prepare;
}

/** A measurement with each side's result, and the first side's ratio to each other one: its rate divided by theirs, or their p50 by its. */
interface Compared {
  name: string;
  count: number;
  atOnce: number;
  ratios: number[];
  results: SideResult[];
}

/** Polls until `read` gives true. */
export async function pollUntilDone(read: () => Promise<boolean>): Promise<void> {
  for (let ms = FIRST_POLL_MS; !(await read()); ms = Math.min(ms * 2, LONGEST_POLL_MS)) await sleep(ms);
}

/** Calls through Longhaul's MCP server. */
export function longhaulSide({ client, home }: Stack): Side {
  const { server, worker, temporal } = home.parts();
  return { name: 'Longhaul', pids: { server, worker, temporal }, ...taskCalls(client) };
}

/** Calls of a client of 2026-07-28 with tasks. */
export function taskCalls(client: Stack['client']): Pick<Side, 'start' | 'read' | 'run'> {
  return {
    start: (tool) => client.start(tool),
    read: (taskId) => client.get(taskId),
    async run(tool) {
      const taskId = await client.start(tool);
      await pollUntilDone(async () => {
        const { status } = (await client.get(taskId)) as { status: string };
        if (status === 'failed') throw new Error('a task failed');
        return status === 'completed';
      });
    },
  };
}

/** Calls that start. */
export const starting =
  (work: string): Prepare =>
  async (side) =>
  () =>
    side.start(work);

/** Calls that start, and poll until it is completed. */
export const running =
  (work: string): Prepare =>
  async (side) =>
  () =>
    side.run(work);

/** Calls that read, spread over a few operations. */
export const reading =
  (work: string): Prepare =>
  async (side) => {
    const ids = await Promise.all(Array.from({ length: READ_OPERATIONS }, () => side.start(work)));
    await sleep(READ_PAUSE_MS);
    return (index) => side.read(ids[index % ids.length]!);
  };

/** The measurements of a benchmark. */
export class Comparison {
  readonly #figures: Compared[] = [];

  constructor(private readonly sides: Side[]) {}

  /** Code is slow in its first runs. */
  async warmUp(run: string, read: string): Promise<void> {
    for (const side of this.sides) {
      await timeRuns(shortened(150), 16, () => side.run(run));
      await timeRuns(shortened(600), 16, await reading(read)(side));
    }
  }

  /** @param count calls of each side */
  async measure(name: string, count: number, atOnce: number, prepare: Prepare): Promise<void> {
    this.#figures.push(await compare(this.sides, { name, count, atOnce, prepare }));
  }

  report(name: string, more: object): void {
    const figures = this.#figures;
    report(name, comparedHeader(this.sides), figures.map(comparedRow), { figures, ...more });
  }
}

/** Measures all sides in alternating blocks. */
async function compare(sides: Side[], { name, count, atOnce, prepare }: Measurement): Promise<Compared> {
  const total = shortened(count, atOnce);
  const rounds = total < ROUNDS * atOnce ? 1 : ROUNDS;
  const calls = await Promise.all(sides.map(prepare));
  const tallies = sides.map(({ pids }) => ({
    tookMs: [] as number[],
    totalMs: 0,
    cpu: Object.fromEntries(Object.keys(pids).map((process) => [process, 0])),
  }));
  for (let round = 0; round < rounds; round++) {
    const first = Math.floor((total * round) / rounds);
    const size = Math.floor((total * (round + 1)) / rounds) - first;
    for (const [index, side] of sides.entries()) {
      const tally = tallies[index]!;
      const before = usedCpu(side);
      const timed = await timeRuns(size, atOnce, (call) => calls[index]!(first + call));
      await sleep(SETTLE_MS);
      const after = usedCpu(side);
      tally.tookMs.push(...timed.tookMs);
      tally.totalMs += timed.totalMs;
      for (const process of Object.keys(after)) tally.cpu[process]! += after[process]! - before[process]!;
    }
  }
  const results = tallies.map(({ tookMs, totalMs, cpu }) => ({
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    perSecond: (total / totalMs) * 1000,
    cpu: Object.fromEntries(Object.entries(cpu).map(([process, ms]) => [process, ms / total])),
  }));
  const [ours, ...others] = results;
  const ratios = others.map((other) =>
    atOnce > 1 ? ours!.perSecond / other.perSecond : other.p50Ms / ours!.p50Ms,
  );
  console.error(`${name}: done`);
  return { name, count: total, atOnce, ratios, results };
}

function usedCpu({ pids }: Side): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid)]));
}

/** Header of {@link comparedRow}. */
function comparedHeader(sides: Side[]): string[] {
  const names = sides.map(({ name }) => name);
  return [
    '',
    ...names,
    ...(names.length === 2 ? ['ratio'] : names.slice(1).map((name) => `ratio to ${name}`)),
    ...names.map((name) => `CPU of ${name}, ms an operation`),
  ];
}

/** Row of a table: each side's rate or time, the ratios, each side's CPU. */
function comparedRow({ name, atOnce, ratios, results }: Compared): string[] {
  const figure = ({ perSecond, p50Ms, p99Ms }: SideResult) =>
    atOnce > 1 ? `${perSecond.toFixed(0)}/s` : `${p50Ms.toFixed(1)} ms (p99 ${p99Ms.toFixed(0)})`;
  const processes = ({ cpu }: SideResult) =>
    Object.entries(cpu)
      .map(([process, ms]) => `${process} ${ms.toFixed(1)}`)
      .join(', ');
  return [
    name,
    ...results.map(figure),
    ...ratios.map((ratio) => ratio.toFixed(2)),
    ...results.map(processes),
  ];
}
