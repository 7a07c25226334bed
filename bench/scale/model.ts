/**
 * Model of what many open operations need: costs from a measured run, limits from Temporal's documentation
 * (docs.temporal.io: "Temporal Cloud limits", "Temporal Cloud Actions", "Temporal Service dynamic configuration").
 */
import { PARTS, type Part, type ScaleRun } from './phases.js';

type PerPart = Record<Part, number>;

/** Costs of an operation that asks one question. */
export interface Costs {
  /** CPU time per operation or read, in milliseconds. `start` ends with the question, `answer` with the close. */
  cpuMs: Record<'start' | 'read' | 'answer', PerPart & { client: number }>;
  /** CPU time a second per watched operation, and per operation with a running activity, in milliseconds. */
  watchedCpuMs: PerPart;
  activeCpuMs: PerPart;
  idleMb: PerPart;
  /** Memory per open operation, in MB; the worker's while it is cached. */
  openMb: PerPart;
  /** Disk per operation, in KB. */
  openKb: number;
  closedKb: number;
  actions: number;
  workflowTasks: number;
  transitions: number;
}

export const PART_NAMES: Record<Part, string> = {
  server: 'MCP server',
  worker: 'worker',
  temporal: 'Temporal',
};

function perPart(value: (part: Part) => number): PerPart {
  return { server: value('server'), worker: value('worker'), temporal: value('temporal') };
}

export function costsOf({ operations, samples, phases, steady, history }: ScaleRun): Costs {
  const { idle, open, closed } = samples;
  const steadyCost = (state: 'watched' | 'active') =>
    perPart((part) =>
      Math.max(0, (steady[state].cpuMs[part] - steady.idle.cpuMs[part]) / steady[state].operations),
    );
  return {
    watchedCpuMs: steadyCost('watched'),
    activeCpuMs: steadyCost('active'),
    cpuMs: { start: phases.start.cpuMs, read: phases.read.cpuMs, answer: phases.answer.cpuMs },
    idleMb: idle.memoryMb,
    openMb: perPart((part) => Math.max(0, open.memoryMb[part] - idle.memoryMb[part]) / operations),
    openKb: ((open.databaseMb - idle.databaseMb) * 1024) / operations,
    closedKb: ((closed.databaseMb - idle.databaseMb) * 1024) / operations,
    actions: history.actions,
    workflowTasks: history.workflowTasks,
    transitions: history.transitions,
  };
}

/** Rows of predicted and measured figures of a run: its CPU, its duration on as many cores, memory and disk. */
export function comparePrediction(costs: Costs, run: ScaleRun, cores = 2): string[][] {
  const { operations, phases, samples } = run;
  const rows: string[][] = [];
  const add = (name: string, unit: string, predicted: number, measured: number) =>
    rows.push([
      name,
      `${predicted.toFixed(0)} ${unit}`,
      `${measured.toFixed(0)} ${unit}`,
      measured > 0 ? (predicted / measured).toFixed(2) : '-',
    ]);
  for (const name of ['start', 'read', 'answer'] as const) {
    const { calls, cpuMs, seconds } = phases[name];
    const perCall = costs.cpuMs[name];
    for (const part of PARTS)
      add(
        `${name}: CPU, ${PART_NAMES[part]}`,
        's',
        (perCall[part] * calls) / 1000,
        (cpuMs[part] * calls) / 1000,
      );
    const all = PARTS.reduce((sum, part) => sum + perCall[part], perCall.client);
    add(`${name}: duration if ${cores} cores are busy`, 's', (all * calls) / 1000 / cores, seconds);
  }
  for (const part of PARTS)
    add(
      `memory, all open${part === 'worker' ? ' and cached' : ''}: ${PART_NAMES[part]}`,
      'MB',
      samples.idle.memoryMb[part] + costs.openMb[part] * operations,
      samples.open.memoryMb[part],
    );
  const databaseMb = (kb: number) => samples.idle.databaseMb + (kb * operations) / 1024;
  add('database, all open', 'MB', databaseMb(costs.openKb), samples.open.databaseMb);
  add('database, all closed', 'MB', databaseMb(costs.closedKb), samples.closed.databaseMb);
  return rows;
}

/** Load of a deployment in a steady state. */
export interface Load {
  /** Operations open at a time. */
  open: number;
  /** Time from start to close, in seconds. */
  lifetimeSeconds: number;
  /** Interval between two polls of an open operation, in seconds. Operations are either polled or watched. */
  pollSeconds: number;
  /** Share of open operations that a client follows by a subscription or a waiting call. */
  watchedShare: number;
  /** Share of open operations with a running activity. */
  activeShare: number;
  /** Namespace's retention of closed operations, in days. */
  retentionDays: number;
}

/** Interval between two heartbeats where costs are measured, on the embedded Temporal, of an activity that reports nothing, in seconds. */
const MEASURED_HEARTBEAT_SECONDS = 2;

/** Assumptions of the model, and Temporal's published limits. */
export const ASSUMED = {
  /** Share of a core that is planned for. */
  utilization: 0.6,
  /** Interval between two heartbeats of a running activity on a named Temporal, by default, in seconds. */
  heartbeatSeconds: 15,
  /** Interval between two reads of a watched operation, for progress, in seconds. */
  watchSeconds: 5,
  /** Duration of one database transaction of a shard, in milliseconds. A shard runs one at a time. */
  transactionMs: 10,
  /** Share of time for which a shard may be busy. */
  shardUtilization: 0.25,
  /** Executions that a shard holds: Temporal's documentation speaks of tens of thousands. */
  operationsPerShard: 10_000,
  /** Default `frontend.namespaceRPS` and `frontend.namespaceCount` of each frontend. */
  frontendRps: 2_400,
  frontendLongPolls: 1_200,
  /** Temporal Cloud's default limits of a namespace. */
  cloudRps: 2_000,
  cloudActionsPerSecond: 500,
  /** Time between two tasks of one poller under load, in milliseconds: poll, match, response. */
  pollMs: 20,
  /** Memory for a worker's cached workflows, in MB. */
  workerCacheMb: 100,
  /** Activities that a worker runs at a time: the SDK's default. */
  activitySlots: 100,
} as const;

const SECONDS_A_MONTH = 30 * 24 * 3600;

/** Outputs of the model, by name; {@link FORMULAS} explains them. */
export interface Sizing {
  startsPerSecond: number;
  readsPerSecond: number;
  heartbeatsPerSecond: number;
  transitionsPerSecond: number;
  requestsPerSecond: number;
  longPolls: number;
  shards: number;
  frontends: number;
  workflowTasksPerSecond: number;
  pollers: number;
  serverCores: number;
  workerCores: number;
  cachedShare: number;
  activityWorkers: number;
  temporalCores: number;
  databaseGb: number;
  actionsPerSecond: number;
  actionsPerMonth: number;
}

/** How each output is computed. */
export const FORMULAS: Record<keyof Sizing, [name: string, formula: string]> = {
  startsPerSecond: ['starts a second', 'open / lifetime'],
  readsPerSecond: ['reads by clients a second', 'polled share of open / poll interval'],
  heartbeatsPerSecond: ['heartbeats a second', 'active share of open x rate of heartbeats'],
  transitionsPerSecond: ['state transitions a second', 'starts x transitions of an operation + heartbeats'],
  requestsPerSecond: [
    'requests a second to frontends',
    'starts x (start + answer + 2 per workflow task) + reads + watched / interval of its reads + heartbeats',
  ],
  longPolls: ['open long polls of histories', 'watched share of open'],
  shards: [
    'history shards, a power of two',
    'the larger of open / operations per shard, transitions / transitions that a shard can do',
  ],
  frontends: [
    'frontends, at least 2',
    'the larger of requests / RPS and long polls / long polls of a frontend, with the default limits',
  ],
  workflowTasksPerSecond: ['workflow tasks a second', 'starts x tasks of an operation'],
  pollers: ['workflow task pollers busy', 'workflow tasks x time of a poll'],
  serverCores: [
    'cores of MCP servers (a process uses one)',
    '(starts, reads, answers, watched, active) x CPU / utilization',
  ],
  workerCores: [
    'cores of workers (a process has one workflow thread)',
    '(starts, answers, replays of those not cached, active) x CPU / utilization',
  ],
  cachedShare: ['share of open operations cached', 'workers x cache / memory of open operations'],
  activityWorkers: ['workers for running activities', 'active share of open / slots of a worker'],
  temporalCores: [
    'cores of Temporal, as embedded',
    '(starts, reads, answers, watched, active) x CPU / utilization; a cluster divides them among its services',
  ],
  databaseGb: ['database, GB', 'open x KB + closed within the retention x KB'],
  actionsPerSecond: ['actions a second', 'starts x actions of an operation + heartbeats'],
  actionsPerMonth: ['actions a month (30 days)', 'actions a second x 2,592,000'],
};

/** Computes what a load needs. */
export function sizeOf(costs: Costs, load: Load): Sizing {
  const { open, lifetimeSeconds, pollSeconds, watchedShare, activeShare, retentionDays } = load;
  const { start, read, answer } = costs.cpuMs;
  const startsPerSecond = open / lifetimeSeconds;
  const readsPerSecond = (open * (1 - watchedShare)) / pollSeconds;
  const watchReadsPerSecond = (open * watchedShare) / ASSUMED.watchSeconds;
  const heartbeatsPerSecond = (open * activeShare) / ASSUMED.heartbeatSeconds;
  const transitionsPerSecond = startsPerSecond * costs.transitions + heartbeatsPerSecond;
  const requestsPerSecond =
    startsPerSecond * (2 + 2 * costs.workflowTasks) +
    readsPerSecond +
    watchReadsPerSecond +
    heartbeatsPerSecond;
  const longPolls = open * watchedShare;
  const transitionsOfShard = (1000 / ASSUMED.transactionMs) * ASSUMED.shardUtilization;
  const shards = Math.max(open / ASSUMED.operationsPerShard, transitionsPerSecond / transitionsOfShard, 4);
  const frontends = Math.max(
    requestsPerSecond / ASSUMED.frontendRps,
    longPolls / ASSUMED.frontendLongPolls,
    2,
  );
  // Nearly all that a running activity costs are its heartbeats.
  const heartbeatRatio = MEASURED_HEARTBEAT_SECONDS / ASSUMED.heartbeatSeconds;
  const cores = (milliseconds: number) => milliseconds / 1000 / ASSUMED.utilization;
  const ofPart = (part: Part) =>
    cores(
      startsPerSecond * (start[part] + answer[part]) +
        readsPerSecond * read[part] +
        open *
          (watchedShare * costs.watchedCpuMs[part] + activeShare * heartbeatRatio * costs.activeCpuMs[part]),
    );
  const cacheMb = (processes: number) => processes * ASSUMED.workerCacheMb;
  const unreplayed = Math.max(1, Math.ceil(ofPart('worker')));
  const cachedShare = Math.min(1, cacheMb(unreplayed) / Math.max(1, open * costs.openMb.worker));
  // A replay evaluates the workflow as its start did.
  const workerCores = ofPart('worker') + cores(startsPerSecond * (1 - cachedShare) * start.worker);
  const workflowTasksPerSecond = startsPerSecond * costs.workflowTasks;
  const closed = startsPerSecond * retentionDays * 24 * 3600;
  const actionsPerSecond = startsPerSecond * costs.actions + heartbeatsPerSecond;
  return {
    startsPerSecond,
    readsPerSecond,
    heartbeatsPerSecond,
    transitionsPerSecond,
    requestsPerSecond,
    longPolls,
    shards: 2 ** Math.ceil(Math.log2(shards)),
    frontends: Math.ceil(frontends),
    workflowTasksPerSecond,
    pollers: Math.ceil((workflowTasksPerSecond * ASSUMED.pollMs) / 1000),
    serverCores: ofPart('server'),
    workerCores,
    cachedShare,
    activityWorkers: Math.ceil((open * activeShare) / ASSUMED.activitySlots),
    temporalCores: ofPart('temporal'),
    databaseGb: (open * costs.openKb + closed * costs.closedKb) / 1024 ** 2,
    actionsPerSecond,
    actionsPerMonth: actionsPerSecond * SECONDS_A_MONTH,
  };
}
