/** Workers work for signed starts only: anyone who reaches Temporal can start workflows, but can't have a worker do anything. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { defaultPayloadConverter, WorkflowFailedError, type Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { linesOf, writePipelines } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);

const PIPELINE = `
inputs:
  properties:
    marker: { type: string }
  required: [marker]
jobs:
  mark:
    steps:
      - run: echo ran >> "$INPUT_MARKER"
        idempotent: true
  fail:
    needs: mark
    steps:
      - run: test -e "$INPUT_MARKER.go" && echo resumed >> "$INPUT_MARKER"
`;

let folder: string;
let stack: TestStack;
let temporal: Client;
/** A signed operation of the pipeline that has failed: its input and memo. */
let signed: { token: string; input: any; memo: Record<string, any> };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-signed-'));
  mkdirSync(join(folder, 'pipelines'));
  writePipelines(join(folder, 'pipelines'), { marking: PIPELINE });
  stack = await TestStack.start({
    LONGHAUL_PROJECT: resolve('test/auth/project'),
    LONGHAUL_PIPELINE_FOLDERS: join(folder, 'pipelines'),
    LONGHAUL_MAX_STEPS: '4',
  });
  temporal = await stack.temporal();
  const token = await stack.client.start('marking', { marker: marker('signed') });
  await stack.client.until(token, 'completed');
  signed = { token, ...(await startOf(token)) };
}, STACK_MS);
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const marker = (name: string) => join(folder, name);

/** Input and memo that a workflow was started with. */
async function startOf(workflowId: string): Promise<{ input: any; memo: Record<string, any> }> {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  const { input, memo } = events![0]!.workflowExecutionStartedEventAttributes!;
  return {
    input: defaultPayloadConverter.fromPayload(input!.payloads![0]!),
    memo: { longhaul: defaultPayloadConverter.fromPayload(memo!.fields!['longhaul']!) },
  };
}

/** The input of the pipeline with another file to write. */
const markingInput = (name: string) => ({ ...signed.input, inputs: { marker: marker(name) } });

/** The failure that ended a workflow: its innermost cause. */
async function failureOf(workflowId: string): Promise<{ type: string; message: string }> {
  const failure = await temporal.workflow
    .getHandle(workflowId)
    .result()
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  if (!(failure instanceof WorkflowFailedError)) throw new Error(`it did not fail: ${String(failure)}`);
  let cause: any = failure.cause;
  while (cause.cause) cause = cause.cause;
  return cause;
}

const options = (workflowId: string, args: unknown[], memo: Record<string, unknown> = {}) => ({
  workflowId,
  taskQueue: stack.taskQueue,
  args,
  memo,
});

describe('a workflow that a client of Temporal starts has no effect, and says why:', () => {
  test('without a memo', async () => {
    const id = randomUUID();
    await temporal.workflow.start('pipeline', options(id, [markingInput('bare')]));
    const failure = await failureOf(id);
    expect(failure).toMatchObject({ type: 'longhaul.unsigned' });
    expect(failure.message).toMatch(/no signature of Longhaul.*nothing was done.*longhaul sign/);
    expect(existsSync(marker('bare'))).toBe(false);
  });

  test('with a memo without a signature', async () => {
    const id = randomUUID();
    const { signature: _signature, ...memo } = signed.memo['longhaul'];
    await temporal.workflow.start('pipeline', options(id, [markingInput('plain')], { longhaul: memo }));
    expect(await failureOf(id)).toMatchObject({ type: 'longhaul.unsigned' });
    expect(existsSync(marker('plain'))).toBe(false);
    // A resume would be signed by the server.
    const { result } = await stack.client.request('tools/call', {
      name: 'operation_resume',
      arguments: { token: id },
    });
    expect(JSON.stringify(result)).toMatch(/wasn't started by Longhaul/);
  });

  test('with the memo of another operation', async () => {
    const id = randomUUID();
    await temporal.workflow.start('pipeline', options(id, [signed.input], signed.memo));
    const before = linesOf(marker('signed')).length;
    const failure = await failureOf(id);
    expect(failure).toMatchObject({ type: 'longhaul.unsigned' });
    expect(failure.message).toMatch(/not for this workflow ID/);
    expect(linesOf(marker('signed'))).toHaveLength(before);
  });

  test.each([
    ['another input', () => [markingInput('other-input')], () => signed.memo],
    [
      'another principal',
      () => [signed.input],
      () => ({ longhaul: { ...signed.memo['longhaul'], principal: 'acme/alice' } }),
    ],
  ])('with the memo of the operation that had this ID, and %s', async (_what, args, memo) => {
    const before = linesOf(marker('signed')).length;
    const handle = await temporal.workflow.start('pipeline', {
      ...options(signed.token, args(), memo()),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    const failure = await failureOf(handle.workflowId);
    expect(failure).toMatchObject({ type: 'longhaul.unsigned' });
    expect(failure.message).toMatch(/signed for another workflow type, input or memo/);
    expect(existsSync(marker('other-input'))).toBe(false);
    expect(linesOf(marker('signed'))).toHaveLength(before);
  });

  test('as a retry by Temporal, which looks like a run that was continued as new', async () => {
    const other = await TestStack.serverAlone({ LONGHAUL_PROJECT: resolve('test/auth/project') });
    try {
      const handle = await temporal.workflow.start('pipeline', {
        ...options(signed.token, [markingInput('retried')], signed.memo),
        taskQueue: other.taskQueue,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowRunTimeout: '2s',
        retry: { maximumAttempts: 100, initialInterval: '1s', maximumInterval: '1s' },
      });
      await eventually('an attempt has timed out', async () => {
        const { raw } = await temporal.workflow.getHandle(handle.workflowId).describe();
        return raw.workflowExecutionInfo?.execution?.runId !== handle.firstExecutionRunId;
      });
      other.worker();
      expect(await failureOf(handle.workflowId)).toMatchObject({ type: 'longhaul.unsigned' });
      expect(existsSync(marker('retried'))).toBe(false);
    } finally {
      await other.stop();
    }
  });

  test('as a part without a parent', async () => {
    const id = randomUUID();
    const { longhaul: memo } = signed.memo;
    const part = { version: 1, operationId: signed.token, token: signed.token, name: 'x', ...memo };
    await temporal.workflow.start('pipeline', options(id, [markingInput('part')], { longhaul_part: part }));
    const failure = await failureOf(id);
    expect(failure.message).toMatch(/no workflow started it as its child/);
    expect(existsSync(marker('part'))).toBe(false);
  });

  test.each(['longhaul_part', 'longhaul_origin'])(
    'as a child of a foreign workflow, with %s',
    async (key) => {
      const id = randomUUID();
      const { longhaul: memo } = signed.memo;
      const part = { version: 1, operationId: signed.token, token: signed.token, name: 'x', ...memo };
      const args = ['pipeline', [markingInput('foreign')], { [key]: part }];
      await temporal.workflow.start('forger', options(id, args));
      const failure = await failureOf(id);
      expect(failure).toMatchObject({ type: 'longhaul.unsigned' });
      expect(failure.message).toMatch(key === 'longhaul_part' ? /belongs to/ : /no signature/);
      expect(existsSync(marker('foreign'))).toBe(false);
    },
  );

  test('with a signal', async () => {
    const id = randomUUID();
    await temporal.workflow.signalWithStart('pipeline', {
      ...options(id, [markingInput('signaled')], signed.memo),
      signal: 'provide_input',
      signalArgs: [{ key: 'input-1', answerId: 'a', answer: { action: 'accept', content: {} } }],
    });
    expect(await failureOf(id)).toMatchObject({ type: 'longhaul.unsigned' });
    expect(existsSync(marker('signaled'))).toBe(false);
  });
});

describe('still work:', () => {
  test('runs that were continued as new, parts, and children that outlive their operation', async () => {
    const path = marker('marks');
    const token = await stack.client.start('marks', { path });
    await stack.client.until(token, 'completed');
    expect(linesOf(path)).toEqual(['round 1', 'round 2', 'part', 'outlives']);
  });

  test('a run that was reset', async () => {
    const path = marker('reset');
    const token = await stack.client.start('marks', { path, round: 2 });
    await stack.client.until(token, 'completed');
    await temporal.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: token },
      reason: 'test',
      requestId: randomUUID(),
      workflowTaskFinishEventId: 4 as any,
    });
    const once = ['round 2', 'part', 'outlives'];
    await eventually('it has run again', () => linesOf(path).length === 6);
    expect(linesOf(path)).toEqual([...once, ...once]);
  });

  test('a resumed operation', async () => {
    const path = marker('resumed');
    const token = await stack.client.start('marking', { marker: path });
    await stack.client.until(token, 'completed');
    expect(linesOf(path)).toEqual(['ran']);
    writeFileSync(`${path}.go`, '');
    const { result } = await stack.client.request('tools/call', {
      name: 'operation_resume',
      arguments: { token },
    });
    await stack.client.until(result.structuredContent.token, 'completed');
    expect(linesOf(path)).toEqual(['ran', 'resumed']);
  });
});

describe('longhaul sign', () => {
  const sign = (...words: string[]) =>
    promisify(execFile)(process.execPath, [resolve('dist/bin/longhaul.js'), 'sign', ...words], {
      env: {
        ...process.env,
        LONGHAUL_PROJECT: resolve('test/auth/project'),
        LONGHAUL_PIPELINE_FOLDERS: join(folder, 'pipelines'),
        LONGHAUL_TASK_QUEUE: stack.taskQueue,
      },
    });
  const argsFile = (name: string) => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify({ marker: marker(name) }));
    return path;
  };

  test('signs a start that an operator makes', async () => {
    const { stdout } = await sign('marking', '--args', argsFile('by-operator'), '--json');
    const start = JSON.parse(stdout);
    await temporal.workflow.start(start.workflowType, options(start.workflowId, [start.input], start.memo));
    await stack.client.until(start.workflowId, 'completed');
    expect(linesOf(marker('by-operator'))).toEqual(['ran']);
  });

  test('signs for the workflows of a schedule, and for no other', async () => {
    const schedule = `nightly-${randomUUID()}`;
    const { stdout } = await sign(
      'marking',
      '--args',
      argsFile('scheduled'),
      '--schedule',
      schedule,
      '--json',
    );
    const start = JSON.parse(stdout);
    const handle = await temporal.schedule.create({
      scheduleId: schedule,
      spec: { intervals: [{ every: '30d' }] },
      action: {
        type: 'startWorkflow',
        workflowType: start.workflowType,
        workflowId: start.workflowId,
        taskQueue: stack.taskQueue,
        args: [start.input],
        memo: start.memo,
      },
    });
    try {
      await handle.trigger();
      const taken = await eventually('the schedule has started one', async () => {
        const { info } = await handle.describe();
        return info.recentActions[0]?.action.workflow.workflowId;
      });
      await stack.client.until(taken, 'completed');
      expect(linesOf(marker('scheduled'))).toEqual(['ran']);
    } finally {
      await handle.delete();
    }
    for (const id of [start.workflowId, `other-2026-11-23T00:00:00Z`]) {
      await temporal.workflow.start('pipeline', options(id, [start.input], start.memo));
      expect((await failureOf(id)).message).toMatch(/not for this workflow ID/);
    }
    expect(linesOf(marker('scheduled'))).toEqual(['ran']);
  });

  test('prints the command of Temporal, and refuses what the tool refuses', async () => {
    const { stdout } = await sign('marks', '--token', 'mine', '--args', argsFile('marks-args')).catch(
      (error: any) => error,
    );
    expect(stdout).toBe('');
    const path = join(folder, 'path.json');
    writeFileSync(path, JSON.stringify({ path: "it's" }));
    const printed = (await sign('marks', '--args', path, '--tenant', 'acme', '--subject', 'alice')).stdout;
    expect(printed).toMatch(/^temporal workflow start \\\n/);
    expect(printed).toContain(`--task-queue ${stack.taskQueue}`);
    expect(printed).toContain(`'{"path":"it'\\''s","round":1}'`);
    expect(printed).toContain('"principal":"acme/alice"');
    await expect(sign('nonesuch')).rejects.toMatchObject({ stderr: expect.stringMatching(/unknown tool/) });
    await expect(sign('marks', '--schedule', 'a', '--token', 'b')).rejects.toMatchObject({
      stderr: expect.stringMatching(/expected one of them/),
    });
  });
});

test('a worker with another secret says so, in its log and in the failure', async () => {
  const other = await TestStack.serverAlone({ LONGHAUL_PROJECT: resolve('test/auth/project') });
  try {
    const worker = other.worker({ LONGHAUL_SECRET: Buffer.alloc(32, 9).toString('base64') });
    await other.ready();
    const path = marker('other-secret');
    const token = await other.client.start('marks', { path });
    const { error } = (await other.client.until(token, 'completed')).result._meta['longhaul/error']
      ? { error: (await failureOf(token)).message }
      : { error: '' };
    expect(error).toMatch(
      /signed with the key \S+, and this worker has the key \S+: its secret is another one/,
    );
    expect(worker.output()).toMatch(/its secret is another one/);
    expect(existsSync(path)).toBe(false);
  } finally {
    await other.stop();
  }
});

test('unsignedStarts allow has a worker work for unsigned workflows, but not for forged ones', async () => {
  const other = await TestStack.start({
    LONGHAUL_PROJECT: resolve('test/auth/project'),
    LONGHAUL_UNSIGNED_STARTS: 'allow',
  });
  try {
    const path = marker('allowed');
    const start = (id: string, memo: object) =>
      temporal.workflow.start('part', {
        workflowId: id,
        taskQueue: other.taskQueue,
        args: [path, 'allowed'],
        memo: memo as Record<string, unknown>,
      });
    await (await start(randomUUID(), {})).result();
    expect(linesOf(path)).toEqual(['allowed']);
    const forged = randomUUID();
    await start(forged, { longhaul: { version: 1, tool: 'part', principal: 'anonymous', signature: 'x' } });
    expect(await failureOf(forged)).toMatchObject({ type: 'longhaul.unsigned' });
    expect(linesOf(path)).toEqual(['allowed']);
  } finally {
    await other.stop();
  }
});
