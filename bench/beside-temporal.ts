/**
 * Longhaul beside bare Temporal: the same workflow, started, read and run to its end through the server's HTTP endpoint and
 * Longhaul's worker, and by Temporal's own client and a worker with its SDK alone, on one Temporal and in one run.
 *
 *     node --import jiti/register bench/beside-temporal.ts
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { cpuMs, measure, report, residentMb, withStack, type Measured, type Stack } from './support.js';

const AT_ONCE = 32;
const ONE_BY_ONE = 100;
const STARTS = 256;
const READS = 1_000;
const RUNS = 192;
const POLL_MS = 100;

async function pollUntilDone(read: () => Promise<boolean>): Promise<void> {
  while (!(await read())) await new Promise((settle) => setTimeout(settle, POLL_MS));
}

interface Side {
  /** Processes that work for it, by name. */
  pids: Record<string, number>;
  start(workflow: string): Promise<string>;
  read(id: string): Promise<unknown>;
  run(workflow: string): Promise<void>;
}

/** Calls through the MCP server. */
function longhaul({ client, home }: Stack): Side {
  const { server, worker, temporal } = home.parts();
  return {
    pids: { server, worker, temporal },
    start: (workflow) => client.start(workflow),
    read: (taskId) => client.get(taskId),
    async run(workflow) {
      const taskId = await client.start(workflow);
      await pollUntilDone(async () => {
        const { status } = (await client.get(taskId)) as { status: string };
        if (status === 'failed') throw new Error('a task failed');
        return status === 'completed';
      });
    },
  };
}

/** Calls by Temporal's client in this process. */
function bareTemporal(client: Client, taskQueue: string, pids: Side['pids']): Side {
  const start = async (workflow: string) => {
    const workflowId = randomUUID();
    await client.workflow.start(workflow, { workflowId, taskQueue, args: [{}] });
    return workflowId;
  };
  const describe = (workflowId: string) => client.workflow.getHandle(workflowId).describe();
  return {
    pids,
    start,
    read: describe,
    async run(workflow) {
      const workflowId = await start(workflow);
      await pollUntilDone(async () => (await describe(workflowId)).status.name !== 'RUNNING');
    },
  };
}

/** Starts the bare worker, and ends it after the work. */
async function withBareWorker(
  { temporalAddress }: Stack,
  work: (pid: number, taskQueue: string) => Promise<void>,
): Promise<void> {
  const taskQueue = 'bench-bare';
  const child = spawn(process.execPath, ['bench/bare/worker.js', temporalAddress, taskQueue], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((settle) => child.once('close', settle));
  try {
    await work(child.pid!, taskQueue);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

type Result = Measured & { cpu: Record<string, number> };

async function measureSide(
  { pids }: Side,
  count: number,
  atOnce: number,
  run: (index: number) => Promise<unknown>,
): Promise<Result> {
  const now = () => Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid)] as const);
  const before = Object.fromEntries(now());
  const measured = await measure(count, atOnce, process.pid, run);
  const cpu = Object.fromEntries(now().map(([name, ms]) => [name, (ms - before[name]!) / count]));
  return { ...measured, cpu };
}

await withStack(async (stack) => {
  await withBareWorker(stack, async (bareWorkerPid, bareQueue) => {
    const connection = await NativeConnection.connect({ address: stack.temporalAddress });
    const ours = longhaul(stack);
    const bare = bareTemporal(new Client({ connection }), bareQueue, {
      worker: bareWorkerPid,
      temporal: ours.pids['temporal']!,
    });
    const rows: string[][] = [];
    const figures: object[] = [];
    const cpuCell = ({ cpu }: Result) =>
      Object.entries(cpu)
        .map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
        .join(', ');
    const compare = async (
      name: string,
      count: number,
      atOnce: number,
      prepare: (side: Side) => Promise<(index: number) => Promise<unknown>>,
    ) => {
      const results: Record<'bare' | 'ours', Result> = {
        bare: await measureSide(bare, count, atOnce, await prepare(bare)),
        ours: await measureSide(ours, count, atOnce, await prepare(ours)),
      };
      const isRate = atOnce > 1;
      const cell = (one: Measured) =>
        isRate ? `${one.perSecond.toFixed(0)}/s` : `${one.p50Ms.toFixed(1)} ms (p99 ${one.p99Ms.toFixed(0)})`;
      const ratio = isRate
        ? results.ours.perSecond / results.bare.perSecond
        : results.bare.p50Ms / results.ours.p50Ms;
      rows.push([
        name,
        cell(results.ours),
        cell(results.bare),
        ratio.toFixed(2),
        cpuCell(results.ours),
        cpuCell(results.bare),
      ]);
      figures.push({ name, count, atOnce, ratio, ...results });
      console.error(`${name}: done`);
    };
    const starting = async (side: Side) => () => side.start('noop');
    const running = (workflow: string) => async (side: Side) => () => side.run(workflow);
    const reading = (workflow: string) => async (side: Side) => {
      const ids = await Promise.all(Array.from({ length: 20 }, () => side.start(workflow)));
      await new Promise((settle) => setTimeout(settle, 2_000));
      return (index: number) => side.read(ids[index % ids.length]!);
    };

    // Warm-up: code is slow in its first runs.
    for (const side of [bare, ours]) {
      await measure(150, 16, process.pid, () => side.run('noop_activity'));
      await measure(600, 16, process.pid, await reading('sleeper')(side));
    }

    await compare('admission, one at a time', ONE_BY_ONE, 1, starting);
    await compare(`admission, ${AT_ONCE} at once`, STARTS, AT_ONCE, starting);
    await compare('read of running work, one at a time', ONE_BY_ONE * 2, 1, reading('sleeper'));
    await compare(`read of running work, ${AT_ONCE} at once`, READS, AT_ONCE, reading('sleeper'));
    await compare('read of closed work, one at a time', ONE_BY_ONE * 2, 1, reading('noop'));
    await compare(`read of closed work, ${AT_ONCE} at once`, READS, AT_ONCE, reading('noop'));
    await compare('completion of noop, at once', RUNS, AT_ONCE, running('noop'));
    await compare('completion of noop_activity, one at a time', ONE_BY_ONE / 2, 1, running('noop_activity'));
    await compare('completion of noop_activity, at once', RUNS * 2, AT_ONCE, running('noop_activity'));
    const memory = {
      ours: Math.round(residentMb(ours.pids['worker']!)),
      bare: Math.round(residentMb(bareWorkerPid)),
      server: Math.round(residentMb(ours.pids['server']!)),
    };
    report(
      'beside-temporal',
      [
        '',
        'Longhaul',
        'Temporal',
        'ratio',
        "Longhaul's CPU an operation, ms",
        "Temporal's CPU an operation, ms",
      ],
      rows,
      { figures, memoryMb: memory },
    );
    console.log(
      `Resident afterwards: Longhaul's worker ${memory.ours} MB, the bare worker ${memory.bare} MB, the server ${memory.server} MB`,
    );
    await connection.close();
  });
});
