/**
 * Operations of mixed kinds while the processes of their stack are killed one after the other, with signal 9. None may be
 * lost or doubled, no poll may show less than an earlier one, and no finished step may wait for a time-out.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { JobsClient } from '../support/jobs.js';
import { eventually, kill, TestHome } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { namedTemporal, namedTemporalPid } from '../support/run-temporal.js';
import { Ledger } from './ledger.js';
import { runOperation, type Outcome } from './operations.js';
import type { Clients } from './polls.js';

const PROJECT = resolve('test/chaos/project');
/** Shortest and longest time between a part's return and the next kill, in milliseconds. */
const PAUSE_MS = { shortest: 500, longest: 2_500 };
/** Longest time between a step's end and the next one's beginning, in milliseconds: a quarter of the heartbeat time-out. */
const LONGEST_GAP_MS = 30_000;

/** Victims of one round; the order is another one in each. Workers hold the most state: half of all kills are theirs. */
const VICTIMS = [
  ...(['worker', 'worker', 'worker', 'worker'] as const),
  ...(['server', 'server', 'temporal', 'supervisor'] as const),
];
type Victim = (typeof VICTIMS)[number];

export interface ChaosOptions {
  operations: number;
  kills: number;
  /** Determines the order of the kills and the pauses between them. */
  seed: number;
  /** Receives a line for each event. Default: none. */
  say?: (line: string) => void;
}

export interface ChaosReport {
  /** Violations, a line each; empty without any. */
  violations: string[];
  operations: number;
  polls: number;
  /** How long after each kill the killed part had its work done again, in milliseconds. */
  backMs: Record<Victim, number[]>;
  /** Between a part's end and the next one's beginning, in milliseconds. */
  gapsMs: { steps: number[]; activities: number[] };
}

/** Runs on a stack of its own, with temporary folders. */
export async function chaos({
  operations,
  kills,
  seed,
  say = () => undefined,
}: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-chaos-'));
  const home = await TestHome.create();
  const environment = {
    LONGHAUL_PROJECT: PROJECT,
    LONGHAUL_PIPELINE_FOLDERS: join(PROJECT, 'pipelines'),
    LONGHAUL_LOG_LEVEL: 'warn',
    LONGHAUL_MAX_STEPS: '16',
    ...namedTemporal(),
  };
  try {
    let supervisor = (await home.up(environment)).pid;
    const clients = { wire: new WireClient(`${home.url}/mcp`), jobs: new JobsClient(home.url) };
    const ledger = new Ledger(join(folder, 'ledger'));
    const backMs: ChaosReport['backMs'] = { server: [], worker: [], temporal: [], supervisor: [] };
    const running: Promise<Outcome>[] = [];
    let lastKill: () => void = () => undefined;
    const killing = new Promise<void>((settle) => (lastKill = settle));
    const startUpTo = (count: number) => {
      while (running.length < count)
        running.push(runOperation(clients, running.length, ledger.path, killing));
    };
    const random = randomOf(seed);
    let left: Victim[] = [];
    for (let number = 0; number < kills; number += 1) {
      startUpTo(Math.ceil((operations * (number + 1)) / kills));
      await delay(PAUSE_MS.shortest + random() * (PAUSE_MS.longest - PAUSE_MS.shortest));
      if (left.length === 0) left = [...VICTIMS];
      const victim = left.splice(Math.floor(random() * left.length), 1)[0]!;
      const from = performance.now();
      if (victim === 'supervisor') {
        kill(supervisor);
        supervisor = (await home.up(environment)).pid;
      } else kill(victim === 'temporal' && namedTemporal() ? namedTemporalPid() : home.parts()[victim]);
      await isBack(victim, home, clients, `${victim}-${number}`);
      const tookMs = performance.now() - from;
      backMs[victim].push(tookMs);
      say(`kill ${number + 1} of ${kills}: ${victim} was back after ${(tookMs / 1000).toFixed(2)} s`);
    }
    lastKill();
    startUpTo(operations);
    const outcomes = await Promise.all(running);
    say(`${outcomes.length} operations are over`);
    return {
      violations: [
        ...outcomes.flatMap(({ violations }) => violations),
        ...outcomes.flatMap((outcome) => ledger.violationsOf(outcome)),
        ...(await doubled(clients, operations)),
        ...outcomes.flatMap((outcome) =>
          ledger
            .gapsMsOf(outcome)
            .filter((gapMs) => outcome.tool === 'steps' && gapMs > LONGEST_GAP_MS)
            .map((gapMs) => `${outcome.name}: a step waited for ${gapMs} ms after the one before had ended`),
        ),
      ],
      operations: outcomes.length,
      polls: outcomes.reduce((sum, { polls }) => sum + polls, 0),
      backMs,
      gapsMs: {
        steps: gapsOf(outcomes, ledger, true),
        activities: gapsOf(outcomes, ledger, false),
      },
    };
  } finally {
    await home.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Numbers from 0 to 1 that a seed determines (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function gapsOf(outcomes: Outcome[], ledger: Ledger, areSteps: boolean): number[] {
  return outcomes
    .filter(({ tool }) => (tool === 'steps') === areSteps)
    .flatMap((outcome) => ledger.gapsMsOf(outcome));
}

/** A server is back when it is ready, everything else when an operation that was started after the kill has completed. */
async function isBack(victim: Victim, home: TestHome, { jobs }: Clients, key: string): Promise<void> {
  if (victim === 'server') {
    await eventually('the server is back', () => home.isReady(), PROCESSES_MS);
    return;
  }
  const id = await eventually(
    'a probe is started',
    () => jobs.start('probe', {}, { 'idempotency-key': key }).catch(() => undefined),
    PROCESSES_MS,
  );
  await eventually(
    'the probe is completed',
    async () => (await jobs.job(id).catch(() => undefined))?.status === 'succeeded',
    PROCESSES_MS,
  );
}

/** Violations when more or fewer operations are listed than were started. Lists lag by up to seconds. */
async function doubled({ jobs }: Clients, operations: number): Promise<string[]> {
  let found = new Set<string>();
  const isComplete = async () => {
    found = new Set();
    for (const tool of ['batches', 'steps']) {
      for (let cursor = ''; ;) {
        const { status, body } = await jobs.get(`/v1/jobs?tool=${tool}&limit=100${cursor}`);
        if (status !== 200) return false;
        for (const { job_id: id } of body.jobs) found.add(id);
        if (!body.next_cursor) break;
        cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
      }
    }
    return found.size >= operations;
  };
  await eventually('all are listed', isComplete).catch(() => undefined);
  return found.size === operations ? [] : [`${found.size} operations are listed; ${operations} were started`];
}
