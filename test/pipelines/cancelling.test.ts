/** A step that ignores SIGTERM: on each protocol it is being cancelled until the step has ended, or is killed after the grace time. */
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { join } from 'node:path';
import { run } from '../cli/commands.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { OUTAGE_MS } from '../support/limits.js';
import type { WireClient } from '../support/mcp.js';
import { LEDGER, PipelineProject, textOf } from './support.js';

jest.setTimeout(OUTAGE_MS);
const PIPELINES = {
  stubborn: `
${LEDGER}
jobs:
  work:
    steps:
      - name: hold on
        run: |
          trap '' TERM
          echo started >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
`,
};
const STILL_RUNNING = 'being cancelled; still running: work / hold on';

// Its own worker, which a test stops.
const project = PipelineProject.ofFile(PIPELINES, 'own');
let plain: WireClient;
beforeAll(() => void (plain = project.client.with({})));

async function stubborn(name: string): Promise<string> {
  const token = await project.startOn('stubborn', name);
  await project.reaches(name, 'started');
  return token;
}

/** Lets the step end, and those of operations that resume this one. */
const release = (name: string) => project.letGo(name);
const tool = async (name: string, args: object) =>
  (await plain.request('tools/call', { name, arguments: args })).result;

/** The operation is open: its step runs. */
async function expectOpen(token: string): Promise<void> {
  expect(await project.client.get(token)).toMatchObject({ status: 'working', statusMessage: STILL_RUNNING });
}

/** The operation has ended, not only in the answers to one protocol. */
const expectEnded = async (token: string) =>
  expect((await project.client.get(token)).status).toBe('cancelled');

test('tasks 2026-07-28: working and being cancelled until the step has ended', async () => {
  const token = await stubborn('current');
  await project.client.request('tasks/cancel', { taskId: token });
  await expectOpen(token);
  const seen = new Set<string>();
  await project.client.until(token, ({ status }) => (seen.add(status), status !== 'working'));
  expect([...seen]).toEqual(['working', 'cancelled']);
});

describe('plain tools', () => {
  test('say that it is being cancelled, offer no resume, and their waits last until the end', async () => {
    const token = await stubborn('plain');
    const asked = await tool('operation_cancel', { token });
    expect(asked.structuredContent).toMatchObject({
      was_open: true,
      status: 'running',
      cancel_requested: true,
    });
    expect(textOf(asked)).toContain('Cancel requested.');
    const open = await tool('operation_get', { token });
    expect(open.structuredContent).toMatchObject({
      status: 'running',
      cancel_requested: true,
      status_message: STILL_RUNNING,
      next_action: { check_after_seconds: expect.any(Number) },
    });
    expect(textOf(open)).toContain(STILL_RUNNING);
    expect(textOf(open)).not.toContain('operation_resume');
    const waiting = tool('operation_get', { token, wait: true, timeout: 90 });
    await expectOpen(token);
    release('plain');
    const ended = await waiting;
    expect(ended.structuredContent).toMatchObject({ token, status: 'cancelled' });
    expect(ended.structuredContent).not.toHaveProperty('cancel_requested');
    expect(textOf(ended)).toContain('operation_resume');
    await expectEnded(token);
  });

  test('operation_resume waits for the end, and then continues', async () => {
    const token = await stubborn('resumed');
    await tool('operation_cancel', { token });
    const resuming = tool('operation_resume', { token });
    await expectOpen(token);
    release('resumed');
    const resumed = await resuming;
    await expectEnded(token);
    expect(resumed.isError).toBeUndefined();
    expect(resumed.structuredContent.resumed_from).toBe(token);
    await project.client.until(resumed.structuredContent.token, 'completed');
  });

  test('operation_resume says after its time that it is still being cancelled, and can be repeated', async () => {
    const token = await stubborn('stopped');
    const worker = project.parts.parts.findLast(({ process }) => process.spawnargs.includes('worker'))!;
    worker.process.kill('SIGSTOP');
    try {
      await tool('operation_cancel', { token });
      const refused = await tool('operation_resume', { token });
      expect(refused).toMatchObject({
        isError: true,
        _meta: { 'longhaul/error': { kind: 'unavailable', retryable: true } },
      });
      expect(textOf(refused)).toContain('has not ended yet: being cancelled');
    } finally {
      worker.process.kill('SIGCONT');
    }
    release('stopped');
    await project.client.until(token, 'cancelled');
  });
});

test('HTTP jobs: running with cancel_requested, until the end', async () => {
  const token = await stubborn('jobs');
  const jobs = new JobsClient(project.parts.base);
  const asked = await jobs.post(`/v1/jobs/${token}:cancel`, {});
  expect(asked).toMatchObject({ status: 202, body: { status: 'running', cancel_requested: true } });
  expect(await jobs.job(token)).toMatchObject({
    status: 'running',
    cancel_requested: true,
    status_message: STILL_RUNNING,
  });
  const waiting = jobs.get(`/v1/jobs/${token}?wait=60`);
  await expectOpen(token);
  release('jobs');
  expect((await waiting).body).toMatchObject({ status: 'canceled', closed_at: expect.any(String) });
  await expectEnded(token);
});

test('tasks 2025-11-25: cancelled at once, with what still runs; tasks/result waits for the end', async () => {
  const client = await LegacyClient.open(`${project.parts.base}/mcp`);
  const { taskId } = await client.task('stubborn', { ledger: join(project.ledgers, 'older') });
  await project.reaches('older', 'started');
  const blocked = client.request('tasks/result', { taskId });
  const { result: cancelled } = await client.request('tasks/cancel', { taskId });
  expect(cancelled).toMatchObject({ status: 'cancelled', statusMessage: STILL_RUNNING });
  await expectOpen(taskId);
  release('older');
  const { result } = await blocked;
  await expectEnded(taskId);
  expect(result).toMatchObject({ isError: true, structuredContent: { status: 'cancelled' } });
  expect((await client.request('tasks/get', { taskId })).result).toMatchObject({
    status: 'cancelled',
    statusMessage: 'canceled',
  });
});

test('SEP-1391: canceled at once, with what still runs', async () => {
  const client = project.client.with({ experimental: { asyncTools: {} } });
  const token = await stubborn('async');
  await tool('operation_cancel', { token });
  const { result } = await client.request('tools/async/status', { token });
  expect(result).toMatchObject({ status: 'canceled', statusMessage: STILL_RUNNING });
  const { error } = await client.request('tools/async/result', { token });
  expect(error!.message).toContain(`Operation is canceled; ${STILL_RUNNING}`);
  await expectOpen(token);
  release('async');
  await project.client.until(token, 'cancelled');
  expect((await client.request('tools/async/status', { token })).result.statusMessage).toBe('canceled');
});

test('two-stage: running with cancel_requested until the end', async () => {
  const client = project.client.with({ experimental: { twoStage: {} } });
  const token = await stubborn('two-stage');
  const poll = async () => (await client.request('tools/poll_result', { job_id: token })).result;
  const { result } = await client.request('tools/cancel_job', { job_id: token });
  expect(result.data).toMatchObject({ status: 'running', cancel_requested: true });
  expect(await poll()).toMatchObject({
    data: { status: 'running', cancel_requested: true },
    messages: [{ text: STILL_RUNNING }],
  });
  release('two-stage');
  await eventually('the job has ended', async () => (await poll()).data.status === 'complete');
  await expectEnded(token);
});

test('the command line says that it is being cancelled; its watch waits for the end', async () => {
  const token = await stubborn('cli');
  expect((await run(project.parts, ['cancel', token])).stdout).toContain('cancel requested');
  expect((await run(project.parts, ['status', token])).stdout).toContain(STILL_RUNNING);
  const watched = run(project.parts, ['watch', token]);
  await expectOpen(token);
  release('cli');
  expect((await watched).code).toBe(5);
});
