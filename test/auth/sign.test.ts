/** `longhaul sign`, and workers with other settings for signatures. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { linesOf } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { FIXTURES } from '../support/test-stack.js';
import { Signed } from './signed.js';

const signed = await forAllTests(Signed.start());

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

  test('signs for the workflows that a schedule starts at its times, and for no other', async () => {
    const schedule = `nightly-${randomUUID()}`;
    const words = ['marking', '--args', argsFile('scheduled'), '--schedule', schedule, '--interval', '1s'];
    const { workflowType, workflowId, input, memo } = JSON.parse((await sign(...words, '--json')).stdout);
    const handle = await signed.temporal.schedule.create({
      scheduleId: schedule,
      spec: { intervals: [{ every: '1s' }] },
      state: { remainingActions: 1 },
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
      const taken = await eventually('the schedule has started one', async () => {
        const { info } = await handle.describe();
        return info.recentActions[0]?.action.workflow.workflowId;
      });
      await signed.stack.client.until(taken, 'completed');
      expect(linesOf(signed.marker('scheduled'))).toEqual(['ran']);
    } finally {
      await handle.delete();
    }
    for (const [id, why] of [
      [workflowId, /not for this workflow ID/],
      [`${schedule}-other-2026-11-23T00:00:00Z`, /not for this workflow ID/],
      [`${schedule}-2026-02-30T00:00:00Z`, /not for this workflow ID/],
      [`${schedule}-2026-01-01T00:00:00Z`, /none of the signed schedule \(every 1s, since 20/],
      [`${schedule}-2099-01-01T00:00:00Z`, /started before its time/],
    ] as const)
      expect((await signed.refused([input], memo, id)).message).toMatch(why);
    expect(linesOf(signed.marker('scheduled'))).toEqual(['ran']);
  });

  test.each(['Skip', 'AllowAll'])('signs for runs that overlap as the policy has it: %s', async (policy) => {
    const schedule = `asking-${randomUUID()}`;
    const args = argsFile(`asking-${policy}`, { filename: 'a.txt' });
    const words = ['confirm_delete', '--args', args, '--schedule', schedule, '--interval', '1s'];
    const { workflowType, input, memo } = JSON.parse(
      (await sign(...words, '--overlap-policy', policy, '--json')).stdout,
    );
    const { workflow } = signed.temporal;
    /** Starts the run of a second, which has to have come. */
    const start = async (ms: number) => {
      const id = `${schedule}-${new Date(ms).toISOString().replace('.000', '')}`;
      await eventually('its time has come', () => Date.now() > ms);
      return workflow.start(workflowType, signed.options([input], memo, id));
    };
    const secondMs = Math.ceil(Date.now() / 1000) * 1000;
    const first = await start(secondMs);
    try {
      await signed.stack.client.until(first.workflowId, 'input_required');
      await eventually('lists have it', async () => {
        for await (const { workflowId } of workflow.list({ query: `WorkflowId = '${first.workflowId}'` }))
          return workflowId;
      });
      const second = await start(secondMs + 1000);
      if (policy === 'Skip')
        expect((await signed.failureOf(second.workflowId)).message).toContain(
          `overlaps with "${first.workflowId}", which the overlap policy Skip doesn't allow: nothing was done`,
        );
      else {
        await signed.stack.client.until(second.workflowId, 'input_required');
        await second.terminate();
      }
    } finally {
      await first.terminate();
    }
    // A run after the first has no other one beside it.
    const third = await start(secondMs + 2000);
    await signed.stack.client.until(third.workflowId, 'input_required');
    await third.terminate();
  });

  test('prints the command of Temporal, and refuses what the tool refuses', async () => {
    const wrong = sign('marks', '--token', 'mine', '--args', argsFile('wrong'));
    await expect(wrong).rejects.toMatchObject({ stdout: '' });
    const path = argsFile('path', { path: "it's" });
    const printed = (await sign('marks', '--args', path, '--tenant', 'acme', '--subject', 'alice')).stdout;
    expect(printed).toMatch(/^temporal workflow start \\\n/);
    expect(printed).toContain(`--task-queue ${signed.stack.taskQueue}`);
    expect(printed).toContain(`--address ${process.env['TEMPORAL_ADDRESS']} \\\n  --namespace default`);
    expect(printed).toContain(`'{"path":"it'\\''s","round":1}'`);
    expect(printed).toContain('"principal":"acme/alice"');
    await expect(sign('nonesuch')).rejects.toMatchObject({ stderr: expect.stringMatching(/unknown tool/) });
    await expect(sign('marks', '--schedule', 'a')).rejects.toMatchObject({
      stderr: expect.stringMatching(/--schedule: expected a cron expression or an interval/),
    });
    const nightly = ['--schedule', 'nightly', '--cron', '0 3 * * *', '--time-zone', 'Europe/Berlin'];
    const scheduled = (await sign('marks', '--args', path, ...nightly)).stdout;
    for (const line of [
      'temporal schedule create',
      "--cron '0 3 * * *'",
      '--time-zone Europe/Berlin',
      '--overlap-policy Skip',
    ])
      expect(scheduled).toContain(line);
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
