/**
 * What does MCP cost on top of Temporal? The same workflow is started, looked at and run to its end through the
 * server's HTTP endpoint and by Temporal's own client, on one stack and in one run.
 *
 *     node --import jiti/register bench/protocol-overhead.ts
 */
import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { measure, printTable, withStack, type Measured, type Stack } from './support.js';

const AT_ONCE = 32;
const ONE_BY_ONE = 100;
const STARTS = 256;
const READS = 1_000;
const RUNS = 192;
const POLL_MS = 100;

async function pollUntilDone(read: () => Promise<boolean>): Promise<void> {
  while (!(await read())) await new Promise((settle) => setTimeout(settle, POLL_MS));
}

/** Through the MCP server. */
function throughFace({ client }: Stack) {
  return {
    start: (workflow: string) => client.start(workflow),
    read: (taskId: string) => client.get(taskId) as Promise<unknown>,
    run: async (workflow: string) => {
      const taskId = await client.start(workflow);
      await pollUntilDone(async () => {
        const { status } = (await client.get(taskId)) as { status: string };
        if (status === 'failed') throw new Error('a task failed');
        return status === 'completed';
      });
    },
  };
}

/** By Temporal's client, in this process. */
function byTemporal(temporal: Client, taskQueue: string) {
  const start = async (workflow: string) => {
    const workflowId = randomUUID();
    await temporal.workflow.start(workflow, { workflowId, taskQueue, args: [{}] });
    return workflowId;
  };
  const describe = (workflowId: string) => temporal.workflow.getHandle(workflowId).describe();
  return {
    start,
    read: (workflowId: string) => describe(workflowId) as Promise<unknown>,
    run: async (workflow: string) => {
      const workflowId = await start(workflow);
      await pollUntilDone(async () => (await describe(workflowId)).status.name !== 'RUNNING');
    },
  };
}

type Way = ReturnType<typeof throughFace>;

await withStack(async (stack) => {
  const connection = await NativeConnection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection });
  const ways: Record<'face' | 'temporal', Way> = {
    face: throughFace(stack),
    temporal: byTemporal(temporal, stack.taskQueue),
  };
  const rows: string[][] = [];
  const compare = async (
    name: string,
    count: number,
    atOnce: number,
    show: keyof Measured,
    run: (way: Way) => Promise<(index: number) => Promise<unknown>>,
  ) => {
    const runs = { face: await run(ways.face), temporal: await run(ways.temporal) };
    const results = {
      temporal: await measure(count, atOnce, stack.serverPid, runs.temporal),
      face: await measure(count, atOnce, stack.serverPid, runs.face),
    };
    const { face, temporal: bare } = results;
    const isRate = show === 'perSecond';
    const cell = (one: Measured) =>
      isRate ? `${one.perSecond.toFixed(0)}/s` : `${one.p50Ms.toFixed(1)} ms (p99 ${one.p99Ms.toFixed(0)})`;
    const ratio = isRate ? bare.perSecond / face.perSecond : face.p50Ms / bare.p50Ms;
    rows.push([name, cell(face), cell(bare), ratio.toFixed(2), `${face.cpuMs.toFixed(2)} ms`]);
    console.error(`${name}: done`);
  };
  const starting = async (way: Way) => () => way.start('noop');
  const reading = (workflow: string) => async (way: Way) => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => way.start(workflow)));
    await new Promise((settle) => setTimeout(settle, 1_000));
    return (index: number) => way.read(ids[index % ids.length]!);
  };

  // Code that has not run yet is slow: not what is asked here.
  for (const way of Object.values(ways)) {
    await measure(150, 16, stack.serverPid, () => way.run('noop'));
    const read = await reading('sleeper')(way);
    await measure(600, 16, stack.serverPid, read);
  }

  await compare('tools/call to handle, one at a time', ONE_BY_ONE, 1, 'p50Ms', starting);
  await compare(`tools/call, ${AT_ONCE} at once`, STARTS, AT_ONCE, 'perSecond', starting);
  await compare('tasks/get of running work, one at a time', ONE_BY_ONE * 2, 1, 'p50Ms', reading('sleeper'));
  await compare(
    `tasks/get of running work, ${AT_ONCE} at once`,
    READS,
    AT_ONCE,
    'perSecond',
    reading('sleeper'),
  );
  await compare('tasks/get of closed work, one at a time', ONE_BY_ONE * 2, 1, 'p50Ms', reading('noop'));
  await compare(`tasks/get of closed work, ${AT_ONCE} at once`, READS, AT_ONCE, 'perSecond', reading('noop'));
  for (const workflow of ['noop', 'noop_activity'])
    await compare(
      `${RUNS} calls of ${workflow}, ${AT_ONCE} at once, all completed`,
      RUNS,
      AT_ONCE,
      'perSecond',
      async (way) => () => way.run(workflow),
    );
  printTable(['', 'MCP', 'Temporal client', 'ratio', "server's CPU a call"], rows);
  await connection.close();
});
