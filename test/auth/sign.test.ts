/** `longhaul sign`, and workers with other settings for signatures. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { linesOf } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { FIXTURES, TestStack } from '../support/test-stack.js';
import { Signed } from './signed.js';

jest.setTimeout(PROCESSES_MS);

let signed: Signed;
beforeAll(async () => {
  signed = await Signed.start();
}, STACK_MS);
afterAll(() => signed?.stop());

describe('longhaul sign', () => {
  const sign = (...words: string[]) =>
    promisify(execFile)(process.execPath, [resolve('dist/bin/longhaul.js'), 'sign', ...words], {
      env: {
        ...process.env,
        LONGHAUL_PROJECT: FIXTURES,
        LONGHAUL_PIPELINE_FOLDERS: `${FIXTURES}/pipelines`,
        LONGHAUL_TASK_QUEUE: signed.stack.taskQueue,
      },
    });
  const argsFile = (name: string, args: object = { marker: signed.marker(name) }) => {
    const path = signed.marker(`${name}.json`);
    writeFileSync(path, JSON.stringify(args));
    return path;
  };

  test('signs a start that an operator makes', async () => {
    const { stdout } = await sign('marking', '--args', argsFile('by-operator'), '--json');
    const { workflowType, workflowId, input, memo } = JSON.parse(stdout);
    await signed.temporal.workflow.start(workflowType, signed.options([input], memo, workflowId));
    await signed.stack.client.until(workflowId, 'completed');
    expect(linesOf(signed.marker('by-operator'))).toEqual(['ran']);
  });

  test('signs for the workflows of a schedule, and for no other', async () => {
    const schedule = `nightly-${randomUUID()}`;
    const words = ['marking', '--args', argsFile('scheduled'), '--schedule', schedule, '--json'];
    const { workflowType, workflowId, input, memo } = JSON.parse((await sign(...words)).stdout);
    const handle = await signed.temporal.schedule.create({
      scheduleId: schedule,
      spec: { intervals: [{ every: '30d' }] },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId,
        taskQueue: signed.stack.taskQueue,
        args: [input],
        memo,
      },
    });
    try {
      await handle.trigger();
      const taken = await eventually('the schedule has started one', async () => {
        const { info } = await handle.describe();
        return info.recentActions[0]?.action.workflow.workflowId;
      });
      await signed.stack.client.until(taken, 'completed');
      expect(linesOf(signed.marker('scheduled'))).toEqual(['ran']);
    } finally {
      await handle.delete();
    }
    for (const id of [workflowId, `${schedule}-other-2026-11-23T00:00:00Z`])
      expect((await signed.refused([input], memo, id)).message).toMatch(/not for this workflow ID/);
    expect(linesOf(signed.marker('scheduled'))).toEqual(['ran']);
  });

  test('prints the command of Temporal, and refuses what the tool refuses', async () => {
    const wrong = sign('marks', '--token', 'mine', '--args', argsFile('wrong'));
    await expect(wrong).rejects.toMatchObject({ stdout: '' });
    const path = argsFile('path', { path: "it's" });
    const printed = (await sign('marks', '--args', path, '--tenant', 'acme', '--subject', 'alice')).stdout;
    expect(printed).toMatch(/^temporal workflow start \\\n/);
    expect(printed).toContain(`--task-queue ${signed.stack.taskQueue}`);
    expect(printed).toContain(`'{"path":"it'\\''s","round":1}'`);
    expect(printed).toContain('"principal":"acme/alice"');
    await expect(sign('nonesuch')).rejects.toMatchObject({ stderr: expect.stringMatching(/unknown tool/) });
    await expect(sign('marks', '--schedule', 'a', '--token', 'b')).rejects.toMatchObject({
      stderr: expect.stringMatching(/expected one of them/),
    });
  });
});

test('a retry by Temporal, which looks like a run that was continued as new, has no effect', async () => {
  const taskQueue = `retried-${randomUUID()}`;
  const handle = await signed.temporal.workflow.start('pipeline', {
    ...signed.options([signed.inputFor('retried')], signed.memo, signed.token),
    taskQueue,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowRunTimeout: '2s',
    retry: { maximumAttempts: 100, initialInterval: '1s', maximumInterval: '1s' },
  });
  await eventually('an attempt has timed out', async () => {
    const { raw } = await signed.temporal.workflow.getHandle(handle.workflowId).describe();
    return raw.workflowExecutionInfo?.execution?.runId !== handle.firstExecutionRunId;
  });
  // Own worker: the first attempt has to time out without one.
  signed.stack.worker({ LONGHAUL_TASK_QUEUE: taskQueue });
  expect(await signed.failureOf(handle.workflowId)).toMatchObject({ type: 'longhaul.unsigned' });
  expect(existsSync(signed.marker('retried'))).toBe(false);
});

test('a worker with another secret says so, in its log and in the failure', async () => {
  // Own stack: its worker has another secret.
  const other = await TestStack.serverAlone({});
  try {
    const worker = other.worker({ LONGHAUL_SECRET: Buffer.alloc(32, 9).toString('base64') });
    await other.ready();
    const path = signed.marker('other-secret');
    const token = await other.client.start('marks', { path });
    const { result } = await other.client.until(token, 'completed');
    expect(result._meta).toHaveProperty(['longhaul/error']);
    expect((await signed.failureOf(token)).message).toMatch(
      /signed with the key \S+, and this worker has the key \S+: its secret is another one/,
    );
    expect(worker.output()).toMatch(/its secret is another one/);
    expect(existsSync(path)).toBe(false);
  } finally {
    await other.stop();
  }
});

test('unsignedStarts allow has a worker work for unsigned workflows, but not for forged ones', async () => {
  const taskQueue = `unsigned-${randomUUID()}`;
  // Own worker: it works for unsigned workflows.
  signed.stack.worker({ LONGHAUL_TASK_QUEUE: taskQueue, LONGHAUL_UNSIGNED_STARTS: 'allow' });
  const path = signed.marker('allowed');
  const start = (memo: Record<string, unknown>) =>
    signed.temporal.workflow.start('marks_part', { ...signed.options([path, 'allowed'], memo), taskQueue });
  await (await start({})).result();
  expect(linesOf(path)).toEqual(['allowed']);
  const memo = { version: 1, tool: 'marks_part', principal: 'anonymous', signature: 'x' };
  const { workflowId } = await start({ longhaul: memo });
  expect(await signed.failureOf(workflowId)).toMatchObject({ type: 'longhaul.unsigned' });
  expect(linesOf(path)).toEqual(['allowed']);
});
