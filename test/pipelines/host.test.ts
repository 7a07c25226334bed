import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { hostId } from '../../worker/steps/host.js';
import { operationFolder } from '../../worker/steps/layout.js';
import { sweepWorkspaces } from '../../activities/pipeline/sweep.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { connectToTemporal } from '../support/run-temporal.js';
import { StepHome } from './steps-support.js';

jest.setTimeout(PROCESSES_MS);
let client: Client;

beforeAll(async () => {
  client = new Client({
    connection: await connectToTemporal(),
  });
});
afterAll(() => client.connection.close());

test('a host keeps its ID, which is short enough for a task queue', () => {
  const home = mkdtempSync(join(tmpdir(), 'longhaul-host-'));
  const id = hostId(join(home, 'new'));
  expect(id).toMatch(/^[A-Za-z0-9-]{0,24}-[0-9a-f]{10}$/);
  expect(hostId(join(home, 'new'))).toBe(id);
  expect(hostId(home)).not.toBe(id);
  rmSync(home, { recursive: true });
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
