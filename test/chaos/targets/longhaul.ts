/**
 * Longhaul on a Temporal that it is given: `longhaul temporal` on a home of its own, and `longhaul up` with server, worker and
 * supervisor, which reach Temporal through a link.
 */
import { join, resolve } from 'node:path';
import { eventually, TestHome, type CommandRun } from '../../stack/cli-process.js';
import { openEvents } from '../../http-jobs/sse.js';
import { JobsClient } from '../../support/jobs.js';
import { PROCESSES_MS } from '../../support/limits.js';
import { protocolClients } from '../../support/protocols/index.js';
import type { Host, Running, Target, Work } from '../target.js';

const PROJECT = resolve('test/chaos/project');
const BATCHES = { batches: 3, secondsEach: 2 };
/** Temporary files, records of running steps, and what a stopped stack removes. */
const UNFINISHED = /(^|\/)running-steps\/|\.tmp$|(^|\/)stack\.(json|lock)$/;

/** Settings that the embedded Temporal of `longhaul up` has by default, and enough calls for one caller. */
const SETTINGS = {
  LONGHAUL_HEARTBEAT_SECONDS: '1',
  LONGHAUL_STICKY_QUEUE_SCHEDULE_TO_START_TIMEOUT_SECONDS: '2',
  LONGHAUL_VISIBILITY_CALLS_PER_SECOND: '1000',
  LONGHAUL_STATUS_PER_MINUTE: '60000',
};

const batches = (more: object) => ({
  tool: 'batches',
  args: ({ name, ledger }: Work) => ({ name, ledger, ...BATCHES, ...more }),
  parts: BATCHES.batches,
});

/** @param program script of the command line. Default: that of this clone's `dist/` */
export function longhaul(program?: string): Target {
  return {
    name: 'Longhaul',
    // Workers hold the most state: half of all kills are theirs.
    processes: {
      worker: { weight: 4, service: 'work' },
      server: { weight: 2, service: 'reads' },
      temporal: { weight: 1, service: 'work' },
      supervisor: { weight: 1, service: 'work' },
    },
    links: ['server', 'temporal'],
    tools: {
      work: batches({}),
      asks: batches({ ends: 'asks' }),
      fails: batches({ ends: 'failed' }),
      long: batches({ batches: 30 }),
      steps: { tool: 'steps', args: ({ name, ledger }) => ({ name, ledger }), parts: 3, isOnce: true },
      probe: { tool: 'probe', args: () => ({}), parts: 0 },
    },
    hasIdempotencyKeys: true,
    start: (host) => start(host, program),
  };
}

async function start(host: Host, program: string | undefined): Promise<Running> {
  const options = { parent: host.folder, ...(program === undefined ? {} : { program }) };
  const temporalHome = await TestHome.create(options);
  const home = await TestHome.create(options);
  await startTemporal(temporalHome);
  const temporalPort = await host.link('temporal', temporalHome.temporalPort);
  const base = `http://127.0.0.1:${await host.link('server', home.port)}`;
  const environment = {
    LONGHAUL_PROJECT: PROJECT,
    LONGHAUL_PIPELINE_FOLDERS: join(PROJECT, 'pipelines'),
    LONGHAUL_LOG_LEVEL: 'warn',
    LONGHAUL_MAX_STEPS: '16',
    ...SETTINGS,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
    ...host.clock,
  };
  let supervisor: CommandRun = await home.up(environment);
  const direct = new JobsClient(home.url);
  return {
    url: `${base}/mcp`,
    processes: {
      server: { pid: () => home.state().serverPid },
      worker: { pid: () => home.state().workerPid },
      supervisor: {
        pid: () => supervisor.pid,
        restart: async () => void (supervisor = await home.up(environment)),
      },
      temporal: { pid: () => temporalHome.state().temporalPid, restart: () => startTemporal(temporalHome) },
    },
    protocols: protocolClients(base),
    events: (handle, lastEventId, signal) => openEvents(base, handle, lastEventId, signal),
    count: () => countJobs(direct),
    async stop() {
      for (const one of [home, temporalHome]) await one.run(['down']).ended;
    },
    leftovers: [home, temporalHome].map(({ path }) => ({ folder: path, names: UNFINISHED })),
  };
}

async function startTemporal(home: TestHome): Promise<void> {
  const run = home.run(['temporal']);
  await eventually(
    () => `Temporal is ready; it said: ${run.stderr()}`,
    () => {
      if (run.process.exitCode !== null) throw new Error(`Temporal ended: ${run.stderr()}`);
      return run.stdout().includes('Temporal:');
    },
    PROCESSES_MS,
  );
}

/** All jobs of the workload but probes. */
async function countJobs(jobs: JobsClient): Promise<number> {
  const found = new Set<string>();
  for (const tool of ['batches', 'steps']) {
    for (let cursor = ''; ;) {
      const { status, body } = await jobs.get(`/v1/jobs?tool=${tool}&limit=100${cursor}`);
      if (status !== 200) throw new Error(`HTTP ${status}`);
      for (const { job_id: id } of body.jobs) found.add(id);
      if (!body.next_cursor) break;
      cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
    }
  }
  return found.size;
}

export default longhaul();
