import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { hostId } from '../../activities/pipeline/host.js';
import { operationFolder } from '../../activities/pipeline/layout.js';
import { sweepWorkspaces } from '../../activities/pipeline/sweep.js';
import { hostTaskQueue, stepTaskQueue } from '../../pipelines/run.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { connectToTemporal } from '../support/run-temporal.js';
import { TestStack } from '../support/test-stack.js';
import { StepHome } from './steps-support.js';

jest.setTimeout(PROCESSES_MS);
let client: Client;

beforeAll(async () => {
  client = new Client({
    connection: await connectToTemporal(),
  });
});
afterAll(() => client.connection.close());

describe('a host', () => {
  test('keeps its ID, which is short enough for a task queue', () => {
    const home = mkdtempSync(join(tmpdir(), 'longhaul-host-'));
    const id = hostId(join(home, 'new'));
    expect(id).toMatch(/^[A-Za-z0-9-]{0,24}-[0-9a-f]{10}$/);
    expect(hostId(join(home, 'new'))).toBe(id);
    expect(hostId(home)).not.toBe(id);
    rmSync(home, { recursive: true });
  });

  test('has a worker that polls the shared queue and the two of its own', async () => {
    const home = mkdtempSync(join(tmpdir(), 'longhaul-host-'));
    // Its own stack on a home of its own: a host is a home.
    const parts = await TestStack.start({ LONGHAUL_HOME: home, LONGHAUL_MAX_STEPS: '1' });
    try {
      const host = await eventually('it has an ID', (): string | undefined =>
        existsSync(join(home, 'host-id')) ? hostId(home) : undefined,
      );
      const pollers = async (name: string, taskQueueType: number) => {
        const { pollers } = await client.workflowService.describeTaskQueue({
          namespace: 'default',
          taskQueue: { name },
          taskQueueType,
        });
        return pollers.length;
      };
      const queues = [hostTaskQueue(parts.taskQueue, host), stepTaskQueue(parts.taskQueue, host)];
      for (const queue of [parts.taskQueue, ...queues])
        await eventually(`${queue} is polled for activities`, () => pollers(queue, 2));
      await eventually('the shared one is polled for workflows', () => pollers(parts.taskQueue, 1));
      for (const queue of queues) expect(await pollers(queue, 1)).toBe(0);
    } finally {
      await parts.stop();
      rmSync(home, { recursive: true, force: true });
    }
  });
});

describe('workspaces', () => {
  test('are kept as long as their operation, and then removed; nothing is when Temporal is away', async () => {
    const home = new StepHome();
    const start = async (keepAliveSeconds: number) => {
      const workflowId = randomUUID();
      await home.openWorkspace({}, workflowId);
      return client.workflow.start('nobody_runs_it', {
        workflowId,
        taskQueue: `test-${workflowId}`,
        memo: { longhaul: { keepAliveSeconds } },
      });
    };
    const [open, kept, over] = [await start(0), await start(3600), await start(0)];
    await Promise.all([kept.terminate(), over.terminate()]);
    await home.openWorkspace({}, 'unknown to Temporal');
    const there = () =>
      [open.workflowId, kept.workflowId, over.workflowId, 'unknown to Temporal'].map((id) =>
        existsSync(operationFolder(home.home, id)),
      );
    const away = new Client({ connection: Connection.lazy({ address: '127.0.0.1:9' }) });
    await expect(sweepWorkspaces(home.home, home.storage, away)).rejects.toThrow();
    await away.connection.close();
    const other = new Client({ connection: client.connection, namespace: await newNamespace('other') });
    const elsewhere = new StepHome();
    await sweepWorkspaces(home.home, elsewhere.storage, other);
    await elsewhere.remove();
    expect(there()).toEqual([true, true, true, true]);
    await sweepWorkspaces(home.home, home.storage, client);
    expect(there()).toEqual([true, true, false, false]);
    await sweepWorkspaces(home.home, home.storage, client, Date.now() + 3_700_000);
    expect(there()).toEqual([true, false, false, false]);
    await open.terminate();
    await home.remove();
  });

  test('of a running step stay until it has ended', async () => {
    const home = await StepHome.open();
    const isThere = () => existsSync(operationFolder(home.home, home.workflowId));
    const stop = new AbortController();
    const running = home.failed('echo x >ready; sleep 600', {}, { stop: stop.signal });
    await eventually('it runs', () => existsSync(join(home.paths.workspace, 'ready')));
    await sweepWorkspaces(home.home, home.storage, client);
    expect(isThere()).toBe(true);
    stop.abort('canceled');
    expect((await running).name).toBe('CancelledFailure');
    await sweepWorkspaces(home.home, home.storage, client);
    expect(isThere()).toBe(false);
    await home.remove();
  });

  test('of unknown operations stay where another namespace, even of the same name, has used the storage', async () => {
    const home = new StepHome();
    const closed = await client.workflow.start('nobody_runs_it', {
      workflowId: randomUUID(),
      taskQueue: `test-${randomUUID()}`,
      memo: { longhaul: { keepAliveSeconds: 0 } },
    });
    await closed.terminate();
    const ids = [closed.workflowId, 'of another Temporal'];
    for (const id of ids) await home.openWorkspace({}, id);
    await home.storage.put(`namespaces/${randomUUID()}`, Buffer.from('default'));
    await sweepWorkspaces(home.home, home.storage, client, Date.now() + 60_000);
    expect(ids.map((id) => existsSync(operationFolder(home.home, id)))).toEqual([false, true]);
    await home.remove();
  });
});
