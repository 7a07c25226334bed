/** Progress of an operation, as every reader on every server sees it: the number and its time never decrease. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import proto from '@temporalio/proto';
import type { Engine } from '../../engine/index.js';
import type { OperationRecord } from '../../operations/record.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack, type Part } from '../support/test-stack.js';

const { PENDING_ACTIVITY_STATE_SCHEDULED, PENDING_ACTIVITY_STATE_STARTED } =
  proto.temporal.api.enums.v1.PendingActivityState;
const ANONYMOUS = 'anonymous';
const folder = temporaryFolder('progress');

/** Engines as in new server processes: without a cached record. */
const fresh: Engine[] = [];
// Own stack: its worker is killed.
const parts = await forAllTests(TestStack.start({ LONGHAUL_PROJECT: resolve('test/progress/project') }));
afterEach(async () => {
  if (worker().process.signalCode !== null) parts.worker();
  await Promise.all(fresh.splice(0).map((engine) => engine.temporal.close()));
});

async function newEngine(): Promise<Engine> {
  const engine = await connectEngine(parts.taskQueue);
  fresh.push(engine);
  return engine;
}

interface Run {
  token: string;
  /** Opens the gate with the way in which the activity ends. */
  open: (how: 'done' | 'fail' | 'retry') => void;
  record: () => Promise<OperationRecord>;
}

async function start(engine: Engine, args: object = {}): Promise<Run> {
  const gate = join(folder, randomUUID());
  const token = await parts.client.start('paced', { gate, progress: 40, ...args });
  return { token, open: (how) => writeFileSync(gate, how), record: () => engine.read(ANONYMOUS, token) };
}

/** Waits until the activity's report is read. */
const reported = ({ record }: Run, progress = 40) =>
  eventually('the report is read', async () => {
    const now = await record();
    return now.progress?.progress === progress ? now : undefined;
  });

/** The activity that is open. */
async function activityOf(token: string) {
  const { workflow } = await parts.temporal();
  const { raw } = await workflow.getHandle(token).describe();
  return { workflowId: token, activityId: raw.pendingActivities![0]!.activityId! };
}

const canceled = ({ record }: Run) =>
  eventually('it is canceled', async () => {
    const now = await record();
    return now.status === 'canceled' ? now : undefined;
  });

/** Waits until the activity's worker is given up, and the next attempt has no worker. */
const nextAttempt = (token: string) =>
  eventually('the activity waits for its next attempt', async () => {
    const { raw } = await (await parts.temporal()).workflow.getHandle(token).describe();
    const [activity] = raw.pendingActivities ?? [];
    return activity?.state === PENDING_ACTIVITY_STATE_SCHEDULED && activity.heartbeatDetails;
  });

/** Result that the worker returns for an activity that has reported. */
const RESULT = {
  longhaul: 'result',
  progress: { progress: 40, total: 100, message: '40 reported' },
  result: 'done',
};

const worker = (): Part => parts.parts.findLast(({ process }) => process.spawnargs.includes('worker'))!;

describe('progress that an activity has reported stays', () => {
  test('when it completes and no worker runs', async () => {
    const run = await start(await newEngine());
    const before = await reported(run);
    await worker().end('SIGKILL');
    await (await parts.temporal()).activity.complete(await activityOf(run.token), RESULT);
    for (const engine of [await newEngine(), fresh[0]!]) {
      const now = await engine.read(ANONYMOUS, run.token);
      expect(now.progress).toEqual(before.progress);
      expect(now.updatedAt >= before.updatedAt).toBe(true);
    }
    parts.worker();
    await parts.client.until(run.token, 'completed');
    expect((await run.record()).progress).toEqual({ ...before.progress, total: 40 });
  });

  test('when it completes while a killed worker still has the workflow task', async () => {
    const run = await start(await newEngine());
    const before = await reported(run);
    await worker().end('SIGKILL');
    const temporal = await parts.temporal();
    // As a worker that was killed in the middle of a workflow task: the task is taken and never completed.
    await temporal.workflow.getHandle(run.token).signal('nothing_that_matters');
    await temporal.connection.withDeadline(Date.now() + 30_000, () =>
      temporal.workflowService.pollWorkflowTaskQueue({
        namespace: 'default',
        taskQueue: { name: parts.taskQueue },
        identity: 'killed',
      }),
    );
    await temporal.activity.complete(await activityOf(run.token), RESULT);
    expect((await run.record()).progress).toEqual(before.progress);
    // No source has the latest progress: another server reports none rather than a lower number.
    expect(await (await newEngine()).read(ANONYMOUS, run.token)).not.toHaveProperty('progress');
    parts.worker();
    await parts.client.until(run.token, 'completed');
    expect((await run.record()).progress?.progress).toBe(40);
  });

  test("when it fails; the tool's own code sees only its author's details", async () => {
    const run = await start(await newEngine(), { thenWaitSeconds: 3600 });
    await reported(run);
    run.open('fail');
    const after = await eventually('the workflow continues', async () => {
      const now = await (await newEngine()).read(ANONYMOUS, run.token);
      return now.stage === 'after the gate: kept detail' ? now : undefined;
    });
    expect(after.progress).toEqual({ progress: 40, total: 100, message: '40 reported' });
    await fresh[0]!.cancel(ANONYMOUS, run.token);
  });

  test('when it is cancelled', async () => {
    const run = await start(await newEngine());
    await reported(run);
    await fresh[0]!.cancel(ANONYMOUS, run.token);
    const after = await eventually('it is canceled', async () => {
      const now = await (await newEngine()).read(ANONYMOUS, run.token);
      return now.status === 'canceled' ? now : undefined;
    });
    expect(after.progress).toEqual({ progress: 40, total: 100, message: '40 reported' });
  });

  test('when it is cancelled while it waits for its next attempt', async () => {
    const run = await start(await newEngine(), { heartbeatSeconds: 5, retrySeconds: 3600 });
    await reported(run);
    await worker().end('SIGKILL');
    await nextAttempt(run.token);
    await (await newEngine()).cancel(ANONYMOUS, run.token, 'enough');
    expect((await (await newEngine()).read(ANONYMOUS, run.token)).progress?.progress).toBe(40);
    parts.worker();
    const after = await canceled(run);
    const elsewhere = await (await newEngine()).read(ANONYMOUS, run.token);
    expect(elsewhere).toMatchObject({ progress: { progress: 40, total: 100 }, cancelReason: 'enough' });
    expect(after).toEqual(elsewhere);
  });

  test('when it is cancelled, and the workflow does not wait for its end', async () => {
    const run = await start(await newEngine(), { cleanupSeconds: 3 });
    await reported(run);
    await fresh[0]!.cancel(ANONYMOUS, run.token);
    const after = await canceled(run);
    const elsewhere = await (await newEngine()).read(ANONYMOUS, run.token);
    expect(elsewhere).toMatchObject({ progress: { progress: 40, total: 100 } });
    expect(elsewhere).not.toHaveProperty('cancelReason');
    expect(after).toEqual(elsewhere);
  });

  test('when its worker is killed and it is not tried again', async () => {
    const run = await start(await newEngine(), { heartbeatSeconds: 5, attempts: 1, thenWaitSeconds: 3600 });
    const before = await reported(run);
    await worker().end('SIGKILL');
    parts.worker();
    const after = await eventually('the workflow continues', async () => {
      const now = await run.record();
      expect(now.progress!.progress).toBe(40);
      expect(now.updatedAt >= before.updatedAt).toBe(true);
      return now.stage?.startsWith('after the gate') ? now : undefined;
    });
    expect((await (await newEngine()).read(ANONYMOUS, run.token)).progress).toEqual(after.progress);
    await fresh[0]!.cancel(ANONYMOUS, run.token);
  });

  test('when an operator terminates the operation', async () => {
    const run = await start(await newEngine());
    const before = await reported(run);
    await (await parts.temporal()).workflow.getHandle(run.token).terminate('enough');
    expect(await run.record()).toMatchObject({ status: 'failed', progress: before.progress });
    const elsewhere = await (await newEngine()).read(ANONYMOUS, run.token);
    expect([undefined, 40]).toContain(elsewhere.progress?.progress);
  });
});

test('a run that continues another one is working, not submitted again', async () => {
  const run = await start(await newEngine(), { continuesOn: `${parts.taskQueue}-of-nobody` });
  const { workflow } = await parts.temporal();
  await eventually('the next run waits for a worker', async () => {
    const { runId, raw } = await workflow.getHandle(run.token).describe();
    return runId !== raw.workflowExecutionInfo?.firstRunId && raw.pendingWorkflowTask;
  });
  expect((await run.record()).status).toBe('working');
  await workflow.getHandle(run.token).terminate('enough');
});

test('an attempt that begins again changes neither number nor text until it has done as much', async () => {
  const run = await start(await newEngine(), { beginsAnew: true });
  const before = await reported(run);
  run.open('retry');
  await eventually('the second attempt runs', async () => {
    const { raw } = await (await parts.temporal()).workflow.getHandle(run.token).describe();
    const [activity] = raw.pendingActivities ?? [];
    return activity?.attempt === 2 && activity.state === PENDING_ACTIVITY_STATE_STARTED;
  });
  run.open('done');
  await parts.client.until(run.token, 'completed');
  const { progress } = await (await newEngine()).read(ANONYMOUS, run.token);
  expect(progress).toEqual({ ...before.progress, total: 40 });
  expect(progress!.message).toBe('40 reported');
});

test('a retry is said once; then stage and message are back, with the attempt beside them', async () => {
  const run = await start(await newEngine(), { heartbeatSeconds: 5 });
  await reported(run);
  await worker().end('SIGKILL');
  parts.worker();
  const lines: string[] = [];
  await eventually(
    () => `the live line is back; it was ${lines.at(-1)}`,
    async () => {
      const { statusMessage = '' } = await run.record();
      if (lines.at(-1) !== statusMessage) lines.push(statusMessage);
      // On a busy machine the second attempt may miss its heartbeats too.
      return /^at the gate: 80 of 100, 80 reported \(attempt \d\)$/.test(statusMessage);
    },
    PROCESSES_MS,
  );
  expect(lines).toContainEqual(expect.stringMatching(/is being retried \(attempt 2\): .*[Hh]eartbeat/));
  run.open('done');
  await parts.client.until(run.token, 'completed');
});
