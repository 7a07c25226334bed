/** Schedule of a run: which operations are started, and which faults follow which. A seed and the target determine it. */
import type { LinkFault } from './faults/links.js';
import { Random } from '../support/random.js';
import type { Role, Target } from './target.js';

export const FAULT_KINDS = ['kill', 'stop', 'network', 'clock', 'disk'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export type Fault = { pauseMs: number } &
  /** `afterPartMs`: time from the end of a part to the kill, which hits the beginning of the next one. Missing: at any time */
  (
    | { kind: 'kill'; victims: string[]; afterPartMs?: number }
    | { kind: 'stop'; victims: string[]; lastsMs: number }
    | { kind: 'network'; link: string; how: LinkFault; lastsMs: number }
    | { kind: 'clock'; jumpSeconds: number }
    | { kind: 'disk'; lastsMs: number }
  );

/** Kind of an operation. The same tool asks for those that are answered, and for those that wait until the end of the run. */
export type OperationKind = Exclude<Role, 'probe'> | 'waits';

export interface OperationPlan {
  number: number;
  kind: OperationKind;
  /** Whether the client loses the response to its first start, and sends the start again. */
  isResponseLost: boolean;
}

export interface Schedule {
  /** In the order of their start. */
  operations: OperationPlan[];
  faults: Fault[];
}

/** Operations of a kind among as many as these. */
const OPERATION_MIX: OperationKind[] = [
  ...(['work', 'work', 'steps', 'steps', 'steps'] as const),
  ...(['asks', 'asks', 'fails', 'long', 'waits'] as const),
];
/** Faults of a kind for each kill. */
const FAULTS_PER_KILL: Record<FaultKind, number> = {
  kill: 1,
  stop: 0.2,
  network: 0.2,
  clock: 0.1,
  disk: 0.1,
};
/** Pause between the return of all services and the next fault, in milliseconds. */
const PAUSE_MS = { least: 500, most: 2_500 };
const STOP_MS = 20_000;
const NETWORK_MS = { least: 3_000, most: 15_000 };
const DISK_MS = { least: 5_000, most: 15_000 };
const LINK_FAULTS: LinkFault[] = ['cut', 'drop', 'delay', 'throttle'];
/** Jumps of the clock, in seconds: an hour is more than every time-out of a connection, and less than the retention. */
const JUMPS_SECONDS = [3_600, -3_600, 90, -90];
/** One of as many operations loses the response to its first start, beside those that faults take. */
const LOST_RESPONSES = [true, false, false, false, false];
/** Share of the kills that hit two processes at once. */
const DOUBLE_KILLS = 0.15;
/** Share of the kills that are aimed at the beginning of a part that may run once only, and the times after the part before. */
const AIMED_KILLS = 0.4;
const AIM_MS = { least: 0, most: 200 };

/** Number of faults of each kind; of each that is asked for there is one at least. */
export function faultCounts(kills: number, kinds: readonly FaultKind[]): Record<FaultKind, number> {
  const count = (kind: FaultKind) =>
    kinds.includes(kind) ? Math.max(1, Math.round(kills * FAULTS_PER_KILL[kind])) : 0;
  return Object.fromEntries(FAULT_KINDS.map((kind) => [kind, count(kind)])) as Record<FaultKind, number>;
}

export interface ScheduleOptions {
  operations: number;
  kills: number;
  seed: number;
  faults: readonly FaultKind[];
}

export function scheduleOf(
  { processes, links, tools }: Pick<Target, 'processes' | 'links' | 'tools'>,
  { operations, kills, seed, faults: kinds }: ScheduleOptions,
): Schedule {
  const random = new Random(seed);
  const kindsOfOperations = OPERATION_MIX.filter((kind) => tools[kind === 'waits' ? 'asks' : kind]);
  const nextKind = random.deck(kindsOfOperations);
  const isResponseLost = random.deck(LOST_RESPONSES);
  const victim = random.deck(
    Object.entries(processes).flatMap(([name, { weight }]) => Array.from({ length: weight }, () => name)),
  );
  const stopped = random.deck(Object.keys(processes));
  const linkFault = random.deck(links.flatMap((link) => LINK_FAULTS.map((how) => ({ link, how }))));
  const jump = random.deck(JUMPS_SECONDS);
  const make: Record<FaultKind, () => Fault> = {
    kill: () => {
      const first = victim();
      const others = random.shuffled(Object.keys(processes).filter((name) => name !== first));
      const isDouble = random.next() < DOUBLE_KILLS;
      return {
        kind: 'kill',
        victims: [first, ...(isDouble ? others.slice(0, 1) : [])],
        ...(random.chance(AIMED_KILLS) ? { afterPartMs: random.between(AIM_MS.least, AIM_MS.most) } : {}),
        ...pause(random),
      };
    },
    stop: () => ({ kind: 'stop', victims: [stopped()], lastsMs: STOP_MS, ...pause(random) }),
    network: () => ({
      kind: 'network',
      ...linkFault(),
      lastsMs: random.between(NETWORK_MS.least, NETWORK_MS.most),
      ...pause(random),
    }),
    clock: () => ({ kind: 'clock', jumpSeconds: jump(), ...pause(random) }),
    disk: () => ({ kind: 'disk', lastsMs: random.between(DISK_MS.least, DISK_MS.most), ...pause(random) }),
  };
  const counts = faultCounts(kills, kinds);
  const order = random.shuffled(
    FAULT_KINDS.flatMap((kind) => Array.from({ length: counts[kind] }, () => kind)),
  );
  return {
    operations: Array.from({ length: operations }, (_, number) => ({
      number,
      kind: nextKind(),
      isResponseLost: isResponseLost(),
    })),
    faults: order.map((kind) => make[kind]()),
  };
}

function pause(random: Random): { pauseMs: number } {
  return { pauseMs: random.between(PAUSE_MS.least, PAUSE_MS.most) };
}
