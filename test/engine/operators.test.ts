import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { loadSettings } from '../../platform/settings/index.js';
import { findTemporalBinary } from '../../stack/temporal/binary.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { inheritedEnvironment, namedTemporal, operatorVariables } from '../support/run-temporal.js';
import { TestStack } from '../support/test-stack.js';

const SINCE = 'since \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ';

const parts = await forAllTests(TestStack.shared());

describe("what operators do in Temporal's own tools", () => {
  test('terminate: the task has failed, and says by whom and why', async () => {
    const { client } = parts;
    const taskId = await client.start('slow_compute', { seconds: 600 });
    await client.until(taskId, (task) => task._meta?.['longhaul/progress']?.progress > 0);
    await (await parts.temporal()).workflow.getHandle(taskId).terminate('disk is full');
    const end = await client.until(taskId, 'completed');
    expect(end.result).toMatchObject({ isError: true, _meta: { 'longhaul/error': { kind: 'terminated' } } });
    expect(end.result.content[0].text).toContain('\nterminated by an operator: disk is full\n');
  });

  test("a run that Temporal's server ended at a limit names the limit, not an operator", async () => {
    const { client } = parts;
    const ends = {
      'Workflow history size exceeds limit.': 'Temporal ended it: history over 50 MiB',
      'Workflow history count exceeds limit.': 'Temporal ended it: history over 51,200 events',
      'Workflow mutable state size exceeds limit.': 'Temporal ended it: pending work over 8 MiB',
      'some later reason': 'Temporal ended it: some later reason',
    };
    for (const [reason, said] of Object.entries(ends)) {
      const workflowId = await client.start('slow_compute', { seconds: 600 });
      // As the server's own event has it.
      await (
        await parts.temporal()
      ).workflowService.terminateWorkflowExecution({
        ...{ namespace: 'default', workflowExecution: { workflowId } },
        ...{ reason, identity: 'history-service' },
      });
      const end = await client.until(workflowId, 'completed');
      expect(end.result).toMatchObject({
        isError: true,
        _meta: { 'longhaul/error': { kind: 'terminated' } },
      });
      expect(end.result.content[0].text).toContain(said);
    }
  });

  test('cancel, with a reason: the same as a cancel by the caller', async () => {
    const { client } = parts;
    const temporal = await parts.temporal();
    const taskId = await client.start('slow_compute', { seconds: 600 });
    await client.until(taskId, (task) => task._meta?.['longhaul/progress']?.progress > 0);
    await temporal.workflowService.requestCancelWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: taskId },
      requestId: randomUUID(),
      reason: 'maintenance',
    });
    const end = await client.until(taskId, 'cancelled');
    expect(end.statusMessage).toBe('canceled: maintenance');
  });

  test('signal cancel_operation: ends as cancelled in Temporal too', async () => {
    const { client } = parts;
    const handle = (await parts.temporal()).workflow.getHandle(
      await client.start('slow_compute', { seconds: 600 }),
    );
    await client.until(handle.workflowId, (task) => task._meta?.['longhaul/progress']?.progress > 0);
    await handle.signal('cancel_operation', 'wrong file');
    expect((await client.until(handle.workflowId, 'cancelled')).statusMessage).toBe('canceled: wrong file');
    expect((await handle.describe()).status.name).toBe('CANCELLED');
  });

  test('pause of an activity: the status says by whom and since when, and the work continues after it', async () => {
    const { client } = parts;
    const { binFolder } = await loadSettings();
    const { path } = await findTemporalBinary({ binFolder }, () => undefined);
    const taskId = await client.start('slow_compute', { seconds: 5 });
    await client.until(taskId, (task) => task._meta?.['longhaul/progress']?.progress > 0);
    const change = (verb: string) =>
      execFileSync(path, ['activity', verb, '-w', taskId, '--activity-type', 'countPrimes'], {
        env: { ...inheritedEnvironment(operatorVariables()), ...operatorVariables() },
      });
    change('pause');
    const isPaused = ({ statusMessage }: any) => /paused(?!.*still runs)/.test(statusMessage ?? '');
    const paused = await client.until(taskId, isPaused);
    expect(paused.status).toBe('working');
    expect(paused.statusMessage).toMatch(new RegExp(`^countPrimes is paused by temporal-cli:\\S+ ${SINCE}`));
    change('unpause');
    await client.until(taskId, 'completed');
  });

  // The embedded Temporal can't pause workflows.
  (namedTemporal() ? test : test.skip)(
    'pause of a workflow: the status says by whom, since when and why, and lists show it as open',
    async () => {
      const { client } = parts;
      const { workflowService } = await parts.temporal();
      const key = randomUUID();
      const workflowId = await client.start('slow_compute', { seconds: 5, idempotency_key: key });
      await client.until(workflowId, (task) => task._meta?.['longhaul/progress']?.progress > 0);
      const change = { namespace: 'default', workflowId, identity: 'alice', reason: 'maintenance' };
      await workflowService.pauseWorkflowExecution({ ...change, requestId: randomUUID() });
      const paused = await client.until(workflowId, ({ statusMessage }) =>
        /paused/.test(statusMessage ?? ''),
      );
      expect(paused.status).toBe('working');
      expect(paused.statusMessage).toMatch(new RegExp(`^paused by alice ${SINCE}: maintenance$`));
      const query = `WorkflowId = '${workflowId}' AND ExecutionStatus = 'Paused'`;
      await eventually(
        'lists of Temporal have the pause',
        async () =>
          Number((await workflowService.countWorkflowExecutions({ namespace: 'default', query })).count) ===
          1,
      );
      const { result } = await client.call('operation_list', { idempotency_key: key, status: 'running' });
      expect(result).toMatchObject({ structuredContent: { operations: [{ status: 'running' }] } });
      await workflowService.unpauseWorkflowExecution({ ...change, requestId: randomUUID() });
      await client.until(workflowId, 'completed');
    },
  );

  test('reset: the operation runs again under the same token, and ends again', async () => {
    const { client } = parts;
    const temporal = await parts.temporal();
    const taskId = await client.start('slow_compute', { seconds: 1 });
    const first = await client.until(taskId, 'completed');
    const { events } = await temporal.workflow.getHandle(taskId).fetchHistory();
    const task = events!.find((event) => event.workflowTaskCompletedEventAttributes)!;
    await temporal.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: taskId },
      reason: 'once more',
      workflowTaskFinishEventId: task.eventId!,
      requestId: randomUUID(),
    });
    await client.until(taskId, (one) => one.status === 'working');
    const second = await client.until(taskId, 'completed');
    expect(second.createdAt).toBe(first.createdAt);
    expect(Date.parse(second.lastUpdatedAt)).toBeGreaterThan(Date.parse(first.lastUpdatedAt));
  });
});

test('a report each second adds no event to the history', async () => {
  const { client } = parts;
  const { workflow } = await parts.temporal();
  const lengths = [1, 10].map(async (seconds) => {
    const taskId = await client.start('slow_compute', { seconds });
    await client.until(taskId, 'completed');
    return (await workflow.getHandle(taskId).describe()).historyLength;
  });
  const [short, long] = await Promise.all(lengths);
  expect(long).toBe(short);
});

test("a defect in the workflow's code keeps the task open, and says so", async () => {
  const { client } = parts;
  const taskId = await client.start('broken_code');
  const task = await client.until(taskId, (one) => /keeps failing/.test(one.statusMessage ?? ''));
  expect(task.status).toBe('working');
  expect(task.statusMessage).toMatch(/the workflow's code keeps failing \(attempt \d+\): .*undefined/);
  await (await parts.temporal()).workflow.getHandle(taskId).terminate('test is over');
});

test('in Temporal an operation shows its tool, stage, status, input, result and summaries', async () => {
  const { client } = parts;
  const taskId = await client.start('slow_compute', { seconds: 1, label: 'shown' });
  await client.until(taskId, 'completed');
  const handle = (await parts.temporal()).workflow.getHandle(taskId);
  const description = await handle.describe();
  expect(description.type).toBe('slow_compute');
  expect(description.status.name).toBe('COMPLETED');
  // Temporal's own clients get what the workflow returned.
  expect(await handle.result()).toMatchObject({ label: 'shown' });
  expect(await description.staticSummary()).toBe('slow compute: seconds=1, label=shown');
  expect(description.memo).toMatchObject({
    longhaul: { tool: 'slow_compute' },
    operation: { stage: 'count primes' },
  });
  // No status: the workflow's own says it.
  expect(description.searchAttributes).toMatchObject({
    LonghaulTool: ['slow_compute'],
    LonghaulPrincipal: ['anonymous'],
  });
  expect(description.searchAttributes).not.toHaveProperty('LonghaulStatus');
  const { events } = await handle.fetchHistory();
  const scheduled = events!.filter((event) => event.activityTaskScheduledEventAttributes);
  expect(scheduled).toHaveLength(1);
  expect(JSON.parse(Buffer.from(scheduled[0]!.userMetadata!.summary!.data!).toString())).toBe('count primes');
});
