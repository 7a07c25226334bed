/**
 * A caller with one call beside another with hundreds, on two cores that run ten activities at once: how long until the call's work
 * begins and ends, beside its time alone. Once with both callers under one key, which is first come, first served; once with a key
 * each, which Temporal's fair task queues distinguish; once with a queue of the tool's own. Then analyze_dataset, with the memory of
 * the worker.
 *
 *     node --import jiti/register bench/fairness.ts [--short]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { addApiKey } from '../mcp-server/auth/key-store.js';
import { eventually } from '../test/stack/cli-process.js';
import { JobsClient } from '../test/support/jobs.js';
import { peakMb, report, residentMb, shortened, withStack, type Stack } from './support.js';

/** Calls of the busy caller. */
const MANY = shortened(500, 40);
const MANY_DATASETS = shortened(100, 8);
/** Activities that the worker runs at once. */
const SLOTS = 10;
/** Calls at a time while they are started. */
const AT_ONCE = 32;
const LIMIT_MS = 600_000;
const DATA = resolve('node_modules/vega-datasets/data');
const QUERY = {
  path: 'flights-3m.parquet',
  group_by: ['origin', 'destination'],
  aggregates: [{ fn: 'median', column: 'delay' }],
};

interface Measured {
  what: string;
  calls: number;
  /** Until all calls of the busy caller were accepted. */
  acceptedMs: number;
  aloneMs: number;
  beginsMs: number;
  endsMs: number;
  /** Until the last call of the busy caller has ended. */
  allMs: number;
  workerMb: number;
  workerPeakMb: number;
}

interface Timed {
  beginsMs: number;
  endsMs: number;
}

/** Starts one call, and times it: until its work has begun, and until its end. */
async function timeOne(client: JobsClient, tool: string, args: object): Promise<Timed> {
  const startedAt = Date.now();
  const id = await client.start(tool, args);
  let begunAt: number | undefined;
  const job = await eventually(
    `${tool} has ended`,
    async () => {
      const now = (await client.job(id)) as { status: string };
      if (now.status !== 'queued') begunAt ??= Date.now();
      return ['succeeded', 'failed'].includes(now.status) ? now : undefined;
    },
    LIMIT_MS,
  );
  const endsMs = Date.now() - startedAt;
  if (job.status !== 'succeeded') throw new Error(JSON.stringify(job));
  const { body } = (await client.get(`/v1/jobs/${id}/result`)) as { body: unknown };
  const { begunAt: reportedAt } = body as { begunAt?: number };
  return { beginsMs: (reportedAt ?? begunAt!) - startedAt, endsMs };
}

async function startMany(client: JobsClient, tool: string, args: object, count: number): Promise<string[]> {
  const ids: string[] = [];
  let left = count;
  const lane = async () => {
    while (left-- > 0) ids.push(await client.start(tool, args));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return ids;
}

async function beside(
  { home }: Stack,
  [busy, other]: [JobsClient, JobsClient],
  [what, tool, args, calls]: [string, string, object, number],
): Promise<Measured> {
  const { worker } = home.parts();
  await timeOne(other, tool, args);
  const alone = await timeOne(other, tool, args);
  const begin = Date.now();
  const ids = await startMany(busy, tool, args, calls);
  const acceptedMs = Date.now() - begin;
  const timed = await timeOne(other, tool, args);
  let workerMb = residentMb(worker);
  for (const id of ids)
    await eventually(
      `${id} has ended`,
      async () => {
        workerMb = Math.max(workerMb, residentMb(worker));
        const { status } = (await busy.job(id)) as { status: string };
        if (status === 'failed') throw new Error(`${id} failed`);
        return status === 'succeeded';
      },
      LIMIT_MS,
    );
  const allMs = Date.now() - begin;
  const workerPeakMb = peakMb(worker);
  return { what, calls, acceptedMs, aloneMs: alone.endsMs, ...timed, allMs, workerMb, workerPeakMb };
}

const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
const [busyKey] = addApiKey(folder, { tenant: 'bench', subject: 'busy' });
const [otherKey] = addApiKey(folder, { tenant: 'bench', subject: 'other' });
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
try {
  await withStack(
    async (stack) => {
      const busy = new JobsClient(stack.home.url, busyKey);
      const other = new JobsClient(stack.home.url, otherKey);
      const runs = [
        await beside(stack, [other, other], ['first come, first served', 'timed', {}, MANY]),
        await beside(stack, [busy, other], ['fair task queues', 'timed', {}, MANY]),
        await beside(stack, [busy, other], ['queue of ten', 'timed_in_queue', {}, MANY]),
        await beside(stack, [busy, other], ['analyze_dataset', 'analyze_dataset', QUERY, MANY_DATASETS]),
      ];
      report(
        'fairness',
        [
          '',
          'calls before',
          'accepted in',
          'alone',
          'begins after',
          'ends after',
          'all end after',
          'worker, peak',
        ],
        runs.map((one) => [
          one.what,
          String(one.calls),
          seconds(one.acceptedMs),
          seconds(one.aloneMs),
          seconds(one.beginsMs),
          seconds(one.endsMs),
          seconds(one.allMs),
          `${Math.round(one.workerPeakMb)} MB`,
        ]),
        { runs },
      );
    },
    {
      LONGHAUL_AUTHENTICATION: 'keys',
      LONGHAUL_KEYS_FOLDER: folder,
      LONGHAUL_DATA_FOLDERS: DATA,
      LONGHAUL_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS: String(SLOTS),
      LONGHAUL_KICKOFFS_PER_MINUTE: '1000000',
      LONGHAUL_STATUS_PER_MINUTE: '1000000',
    },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
