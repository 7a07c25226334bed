/** Deleting operations: gone on every protocol and for every server process, with all that storage held of them. */
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, test } from '@jest/globals';
import { LonghaulError } from '../../operations/errors.js';
import { ANONYMOUS } from '../../operations/wire/index.js';
import { prefixesOf } from '../../platform/storage/keys.js';
import { openStorage, type Storage } from '../../platform/storage/index.js';
import { sweepStorage } from '../../worker/process/sweep-storage.js';
import { expectProblem } from '../http-jobs/support.js';
import { connectEngine } from '../support/engine.js';
import { afterThisTest, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { run } from '../cli/commands.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { Caller, textOf } from './support.js';

const PROJECT = resolve('test/operation-tools/project');
/**
 * Temporal deletes in the background, in milliseconds: a run goes once all tasks of its shard up to the run's end are written
 * down as done, which takes up to two minutes on an idle machine, and longer beside tests that kill servers.
 */
const BACKGROUND_LIMIT_MS = 480_000;

/** Over the size from which values are kept in storage. */
const TEXT = 't'.repeat(300_000);
const home = process.env['LONGHAUL_HOME']!;

// A stack of its own: its project has workflows with children and several runs.
const parts = await forAllTests(
  TestStack.start({ LONGHAUL_PROJECT: PROJECT, LONGHAUL_PIPELINE_FOLDERS: join(PROJECT, 'pipelines') }),
);
const port = await freePort();
parts.server({ LONGHAUL_PORT: String(port) });
const second = `http://127.0.0.1:${port}`;
await inSetUp(
  eventually('the second server is ready', () =>
    fetch(`${second}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  ),
);
const caller = new Caller(parts.client);
const storage = openStorage({ home });

async function ended(tool: string, args: object): Promise<string> {
  const token = await caller.start(tool, args);
  await caller.settled(token);
  return token;
}

async function keysOf(...workflowIds: string[]): Promise<string[]> {
  const keys: string[] = [];
  for (const prefix of workflowIds.flatMap(prefixesOf))
    for await (const { key } of storage.list(prefix)) keys.push(key);
  return keys;
}

/** Cuts a delete off between Temporal and storage, as a killed server would. */
async function cutOff(token: string): Promise<void> {
  const failing: Storage = {
    ...storage,
    size: (key) => storage.size(key),
    remove: () => Promise.reject(new Error('the disk is gone')),
  };
  const engine = await connectEngine(parts.taskQueue, { storage: failing });
  try {
    await expect(engine.delete(ANONYMOUS, token)).rejects.toThrow('the disk is gone');
  } finally {
    await engine.temporal.close();
  }
}

/** Whether Temporal has a run; the current one under the ID by default. */
const isKnown = async (workflowId: string, runId?: string) =>
  (await parts.temporal()).workflow
    .getHandle(workflowId, runId)
    .describe()
    .then(
      () => true,
      (error) => !(error instanceof WorkflowNotFoundError),
    );

test('a deleted operation is not found on any protocol, by any server process', async () => {
  const token = await ended('ledger', { word: 'right' });
  const unknown = randomUUID();
  const jobs = [new JobsClient(parts.base), new JobsClient(second)];
  expect((await jobs[1]!.get(`/v1/jobs/${token}/artifacts/make%2Fout.txt`)).status).toBe(200);
  expect(await keysOf(token)).toHaveLength(2);

  const result = await caller.call('operation_delete', { token });
  expect(result.structuredContent).toEqual({ token, deleted: true });

  expect(await keysOf(token)).toEqual([]);
  const older = await LegacyClient.open(`${second}/mcp`, '2025-11-25', { tasks: {} });
  for (const [index, base] of [parts.base, second].entries()) {
    const client = new WireClient(`${base}/mcp`);
    for (const name of ['operation_get', 'operation_cancel', 'operation_resume', 'operation_delete'])
      await new Caller(client).refused(name, { token }, 'not_found', 'not found');
    for (const [method, paramsOf] of [
      ['tasks/get', (taskId: string) => ({ taskId })],
      ['tasks/cancel', (taskId: string) => ({ taskId })],
      ['resources/read', (id: string) => ({ uri: `longhaul://operations/${id}` })],
      ['resources/read', (id: string) => ({ uri: `longhaul://operations/${id}/artifacts/make%2Fout.txt` })],
    ] as const) {
      const [gone, never] = [
        await client.request(method, paramsOf(token)),
        await client.request(method, paramsOf(unknown)),
      ];
      expect(gone.error).toBeDefined();
      expect(JSON.stringify(gone.error)).toBe(JSON.stringify(never.error).replaceAll(unknown, token));
    }
    for (const path of ['', '/result', '/logs', '/logs/make%2F1', '/artifacts/make%2Fout.txt', '/events'])
      expectProblem(await jobs[index]!.get(`/v1/jobs/${token}${path}`), 'job-not-found', 404);
    const operations = client.with({ experimental: { asyncTools: {}, twoStage: {} } });
    const async = await operations.request('tools/async/status', { token });
    const twoStage = await operations.request('tools/poll_result', { job_id: token });
    expect(JSON.stringify([async.error ?? async.result, twoStage.error ?? twoStage.result])).toMatch(
      /not found.*not found/is,
    );
  }
  expect((await older.request('tasks/get', { taskId: token })).error).toMatchObject({ code: -32602 });
  expect(await run(parts, ['status', token])).toMatchObject({ code: 4 });
});

test('all its runs go, its child workflows, and what storage held of them', async () => {
  const token = await ended('family', { text: TEXT });
  const child = `${token}.child`;
  const temporal = await parts.temporal();
  const { runId } = await temporal.workflow.getHandle(token).describe();
  const { namespace } = temporal.options;
  const { runId: reset } = (await temporal.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: token, runId },
    workflowTaskFinishEventId: 4 as any,
    requestId: randomUUID(),
    reason: 'test',
  })) as { runId: string };
  await eventually('the reset run has ended', async () => {
    const now = await temporal.workflow.getHandle(token).describe();
    return now.runId === reset && now.status.name === 'COMPLETED';
  });
  const runs = new Set([runId, reset]);
  await eventually('visibility has all runs', async () => {
    for await (const one of temporal.workflow.list({ query: `WorkflowId = "${token}"` })) runs.add(one.runId);
    return runs.size === 3;
  });
  expect(await keysOf(token)).not.toEqual([]);
  expect(await keysOf(child)).not.toEqual([]);

  await caller.call('operation_delete', { token });
  expect(await keysOf(token, child)).toEqual([]);
  const left = new Set([child, ...runs]);
  const isGone = async () => {
    for (const one of left)
      if (!(await (one === child ? isKnown(child) : isKnown(token, one)))) left.delete(one);
    return left.size === 0;
  };
  const what = () =>
    `Temporal knows none of the runs: left are ${[...left].join(', ')}, the child being ${child}`;
  await eventually(what, isGone, BACKGROUND_LIMIT_MS);
});

describe('refuses', () => {
  test('an open operation, which stays as it is', async () => {
    // Not even a worker is needed to say so: the operation waits for one.
    await parts.parts[1]!.end();
    const open = await caller.start('family', { text: 'x' });
    try {
      await caller.refused('operation_delete', { token: open }, 'wrong_state', 'cancel it first');
      expectProblem(await new JobsClient(second).post(`/v1/jobs/${open}:delete`), 'wrong-state', 409);
      expect(await run(parts, ['delete', open])).toMatchObject({ code: 1 });
    } finally {
      parts.worker();
    }
    expect(await caller.settled(open)).toMatchObject({ status: 'completed' });
  });

  test('unknown tokens and workflows that are no operations, alike', async () => {
    const temporal = await parts.temporal();
    const foreign = `foreign-${randomUUID()}`;
    await temporal.workflow.start('nobody', { workflowId: foreign, taskQueue: 'nobody', args: [] });
    await temporal.workflow.getHandle(foreign).terminate();
    const answers = await Promise.all(
      [foreign, randomUUID()].map(async (token) => textOf(await caller.call('operation_delete', { token }))),
    );
    expect(answers[0]).toBe(answers[1]);
    for (const token of [foreign, randomUUID()]) {
      expectProblem(await new JobsClient(parts.base).post(`/v1/jobs/${token}:delete`), 'job-not-found', 404);
      expect(await run(parts, ['delete', token])).toMatchObject({ code: 4 });
    }
    expect(await isKnown(foreign)).toBe(true);
  });

  test('one that was resumed, until the operation that resumes it is deleted', async () => {
    const token = await ended('ledger', { word: 'wrong' });
    const { token: resumed } = await caller.get('operation_resume', {
      token,
      from: 'make',
      changes: { word: 'right' },
    });
    expect(await caller.settled(resumed)).toMatchObject({ status: 'completed' });
    await caller.refused('operation_delete', { token }, 'wrong_state', `resumed as ${resumed}`);
    expect(await keysOf(token)).not.toEqual([]);
    for (const one of [resumed, token]) await caller.get('operation_delete', { token: one });
    expect(await keysOf(token, resumed)).toEqual([]);
  });
});

describe('cut off between Temporal and storage', () => {
  test('nobody finds the operation any more, and a repeated delete completes', async () => {
    const token = await ended('ledger', { word: 'right' });
    await cutOff(token);
    expect(await keysOf(token)).not.toEqual([]);
    await caller.refused('operation_get', { token }, 'not_found', 'not found');
    const again = await new JobsClient(second).post(`/v1/jobs/${token}:delete`);
    expect(again).toMatchObject({ status: 204, body: '' });
    expect(await keysOf(token)).toEqual([]);
    await caller.refused('operation_delete', { token }, 'not_found', 'not found');
  });

  test('the sweep of storage completes it too, also in storage that another namespace has used', async () => {
    const token = await ended('ledger', { word: 'right' });
    await cutOff(token);
    const another = `namespaces/${randomUUID()}`;
    await storage.put(another, Buffer.from('default'));
    afterThisTest(() => storage.remove(another));

    await eventually('a sweep has found it in visibility', async () => {
      await sweepStorage(storage, await parts.temporal());
      return (await keysOf(token)).length === 0;
    });
  });

  test('new work under its key is put off until it is complete, and finds nothing of it', async () => {
    const args = { text: TEXT, idempotency_key: randomUUID() };
    const token = await ended('family', args);
    await cutOff(token);
    await caller.refused('family', args, 'unavailable', 'is being deleted; try again shortly');
    await caller.get('operation_delete', { token });
    expect(await caller.start('family', args)).toBe(token);
    expect(await caller.settled(token)).toMatchObject({ status: 'completed', result: { text: TEXT } });
    await caller.get('operation_delete', { token });
  });
});

test('its idempotency key is free again, for work that finds nothing of it on the host either', async () => {
  const { jobs } = parts;
  const key = { 'idempotency-key': randomUUID() };
  const job = await jobs.start('ledger', { word: 'right' }, key);
  await jobs.until(job, 'succeeded');
  expectProblem(await jobs.kickOff('ledger', { word: 'other' }, key), 'idempotency-key-reused', 422);
  expect((await jobs.post(`/v1/jobs/${job}:delete`)).status).toBe(204);
  expect(await jobs.start('ledger', { word: 'other' }, key)).toBe(job);
  await jobs.until(job, 'failed');
});

test('a record in a reader that was quicker than the delete turns into not found, never into a defect', async () => {
  const token = await ended('family', { text: TEXT });
  let deleted: Promise<unknown> | undefined;
  // Deletes once a reader has described the operation, before it reads the large result.
  const slow: Storage = {
    ...storage,
    read: async (key, range) => {
      await (deleted ??= caller.get('operation_delete', { token }));
      return storage.read(key, range);
    },
  };
  const engine = await connectEngine(parts.taskQueue, { storage: slow });
  const error = await engine.read(ANONYMOUS, token).catch((caught: unknown) => caught);
  await engine.temporal.close();
  expect(deleted).toBeDefined();
  expect(error).toBeInstanceOf(LonghaulError);
  expect(error).toMatchObject({ kind: 'not_found' });
});

test('`longhaul delete` says what it did', async () => {
  const token = await ended('ledger', { word: 'right' });
  expect(await run(parts, ['delete', token])).toMatchObject({ code: 0, stdout: `${token} is deleted\n` });
  const other = await ended('ledger', { word: 'right' });
  const { stdout } = await run(parts, ['delete', other, '--json']);
  expect(JSON.parse(stdout)).toEqual({ token: other, deleted: true });
});
