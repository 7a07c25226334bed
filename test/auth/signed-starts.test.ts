/** Workers work for signed starts only: anyone who reaches Temporal can start workflows, but can't have a worker do anything. */
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { linesOf } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { Signed } from './signed.js';

const signed = await forAllTests(Signed.start());

const UNSIGNED = { type: 'longhaul.unsigned' };

/** Memo of a part of the signed operation. */
const partMemo = () => {
  const { token, memo } = signed;
  return { version: 1, operationId: token, token, name: 'x', ...memo['longhaul'] };
};

describe('a workflow that a client of Temporal starts has no effect, and says why:', () => {
  test('without a memo', async () => {
    const failure = await signed.refused([signed.inputFor('bare')]);
    expect(failure).toMatchObject(UNSIGNED);
    expect(failure.message).toMatch(/no signature of Longhaul.*nothing was done.*longhaul sign/);
    expect(existsSync(signed.marker('bare'))).toBe(false);
  });

  test('with a memo without a signature', async () => {
    const id = randomUUID();
    const { signature: _signature, ...memo } = signed.memo['longhaul'];
    expect(await signed.refused([signed.inputFor('plain')], { longhaul: memo }, id)).toMatchObject(UNSIGNED);
    expect(existsSync(signed.marker('plain'))).toBe(false);
    // A resume would be signed by the server.
    const { result } = await signed.stack.client.call('operation_resume', { token: id });
    expect(JSON.stringify(result)).toMatch(/wasn't started by Longhaul/);
  });

  test('with the memo of another operation', async () => {
    const before = linesOf(signed.marker('signed')).length;
    const failure = await signed.refused([signed.input], signed.memo);
    expect(failure).toMatchObject(UNSIGNED);
    expect(failure.message).toMatch(/not for this workflow ID/);
    expect(linesOf(signed.marker('signed'))).toHaveLength(before);
  });

  test.each([
    ['another input', () => [signed.inputFor('other-input')], () => signed.memo],
    [
      'another principal',
      () => [signed.input],
      () => ({ longhaul: { ...signed.memo['longhaul'], principal: 'acme/alice' } }),
    ],
  ])('with the memo of the operation that had this ID, and %s', async (_what, args, memo) => {
    const before = linesOf(signed.marker('signed')).length;
    const handle = await signed.temporal.workflow.start('pipeline', {
      ...signed.options(args(), memo(), signed.token),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    const failure = await signed.failureOf(handle.workflowId);
    expect(failure).toMatchObject(UNSIGNED);
    expect(failure.message).toMatch(/signed for another workflow type, input or memo/);
    expect(existsSync(signed.marker('other-input'))).toBe(false);
    expect(linesOf(signed.marker('signed'))).toHaveLength(before);
  });

  test('as a part without a parent', async () => {
    const failure = await signed.refused([signed.inputFor('part')], { longhaul_part: partMemo() });
    expect(failure.message).toMatch(/no workflow started it as its child/);
    expect(existsSync(signed.marker('part'))).toBe(false);
  });

  test.each(['longhaul_part', 'longhaul_origin'])(
    'as a child of a foreign workflow, with %s',
    async (key) => {
      const args = ['pipeline', [signed.inputFor('foreign')], { [key]: partMemo() }];
      const { workflowId } = await signed.temporal.workflow.start('forger', signed.options(args));
      const failure = await signed.failureOf(workflowId);
      expect(failure).toMatchObject(UNSIGNED);
      expect(failure.message).toMatch(key === 'longhaul_part' ? /belongs to/ : /no signature/);
      expect(existsSync(signed.marker('foreign'))).toBe(false);
    },
  );

  test('with a signal', async () => {
    const { workflowId } = await signed.temporal.workflow.signalWithStart('pipeline', {
      ...signed.options([signed.inputFor('signaled')], signed.memo),
      signal: 'provide_input',
      signalArgs: [{ key: 'input-1', answerId: 'a', answer: { action: 'accept', content: {} } }],
    });
    expect(await signed.failureOf(workflowId)).toMatchObject(UNSIGNED);
    expect(existsSync(signed.marker('signaled'))).toBe(false);
  });
});

describe('still work:', () => {
  const complete = async (tool: string, args: object): Promise<string> => {
    const token = await signed.stack.client.start(tool, args);
    await signed.stack.client.until(token, 'completed');
    return token;
  };

  test('runs that were continued as new, parts, and children that outlive their operation', async () => {
    const path = signed.marker('marks');
    await complete('marks', { path });
    expect(linesOf(path)).toEqual(['round 1', 'round 2', 'part', 'outlives']);
  });

  test('a run that was reset', async () => {
    const path = signed.marker('reset');
    const token = await complete('marks', { path, round: 2 });
    await signed.temporal.workflowService.resetWorkflowExecution({
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
    const path = signed.marker('resumed');
    const token = await complete('marking', { marker: path });
    expect(linesOf(path)).toEqual(['ran']);
    writeFileSync(`${path}.go`, '');
    const { result } = await signed.stack.client.call('operation_resume', { token });
    await signed.stack.client.until(result.structuredContent.token, 'completed');
    expect(linesOf(path)).toEqual(['ran', 'resumed']);
  });
});
