/**
 * Overhead of MCP over Temporal. The same workflow is started, read and run to its end through the server's HTTP endpoint and
 * by Temporal's own client, on one stack and in one run.
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

/** Calls through the MCP server. */
function overMcp({ client }: Stack) {
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

/** Calls by Temporal's client in this process. */
function overTemporal(temporal: Client, taskQueue: string) {
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

type Api = ReturnType<typeof overMcp>;

await withStack(async (stack) => {
  const connection = await NativeConnection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection });
  const apis: Record<'mcp' | 'temporal', Api> = {
    mcp: overMcp(stack),
    temporal: overTemporal(temporal, stack.taskQueue),
  };
  const rows: string[][] = [];
  const compare = async (
    name: string,
    count: number,
    atOnce: number,
    show: keyof Measured,
    run: (api: Api) => Promise<(index: number) => Promise<unknown>>,
  ) => {
    const runs = { mcp: await run(apis.mcp), temporal: await run(apis.temporal) };
    const results = {
      temporal: await measure(count, atOnce, stack.serverPid, runs.temporal),
      mcp: await measure(count, atOnce, stack.serverPid, runs.mcp),
    };
    const { mcp, temporal: bare } = results;
    const isRate = show === 'perSecond';
    const cell = (one: Measured) =>
      isRate ? `${one.perSecond.toFixed(0)}/s` : `${one.p50Ms.toFixed(1)} ms (p99 ${one.p99Ms.toFixed(0)})`;
    const ratio = isRate ? bare.perSecond / mcp.perSecond : mcp.p50Ms / bare.p50Ms;
    rows.push([name, cell(mcp), cell(bare), ratio.toFixed(2), `${mcp.cpuMs.toFixed(2)} ms`]);
    console.error(`${name}: done`);
  };
  const starting = async (api: Api) => () => api.start('noop');
  const reading = (workflow: string) => async (api: Api) => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => api.start(workflow)));
    await new Promise((settle) => setTimeout(settle, 1_000));
    return (index: number) => api.read(ids[index % ids.length]!);
  };

  // Warm-up: code is slow in its first runs.
  for (const api of Object.values(apis)) {
    await measure(150, 16, stack.serverPid, () => api.run('noop'));
    const read = await reading('sleeper')(api);
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
      async (api) => () => api.run(workflow),
    );
  printTable(['', 'MCP', 'Temporal client', 'ratio', "server's CPU a call"], rows);
  await connection.close();
});
