/** Runs that were started elsewhere: adopted by an operator, or listed by a tool's filter. */
import { randomUUID } from 'node:crypto';
import { expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { run } from '../cli/commands.js';
import { forged } from '../support/forged.js';
import { PROCESSES_MS } from '../support/limits.js';
import { untilOver, untilReading, type ProtocolClient } from '../support/protocols/index.js';
import { resetBefore } from '../support/reset-workflow.js';
import { OddStack } from './support.js';

jest.setTimeout(PROCESSES_MS);

const QUEUE = `adopt-${randomUUID()}`;
const TOOLS = {
  'asks.yaml': `workflow: { type: Asks, task-queue: ${QUEUE} }
input: { properties: { times: { type: integer } } }
args: [times]
question: { query: question, answer: { update: decide, args: [approved] } }
adopt: { list: "TaskQueue = '${QUEUE}'" }
`,
  'ticks.yaml': `workflow: { type: Ticks, task-queue: ${QUEUE} }
progress: { query: progress, map: { progress: at.done, total: at.of } }
adopt: true
`,
  'continues.yaml': `workflow: { type: Continues, task-queue: ${QUEUE} }\nadopt: true\n`,
  'echo.yaml': `workflow: { type: Echo, task-queue: ${QUEUE} }\n`,
};

const stack = OddStack.ofFile(QUEUE, TOOLS);
const { startByHand, handleOf } = stack;
const temporal = () => stack.parts.temporal();

const adopt = async (workflowId: string, ...flags: string[]) => {
  const words = ['adopt', workflowId, '--project', stack.project, ...flags];
  const { code, stdout, stderr } = await run(stack.parts, words);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${workflowId} is an operation of`)]);
  return stdout.trim();
};

test('every protocol reads, answers and collects an adopted run', async () => {
  const workflowId = await startByHand('Asks', [stack.clients.length]);
  const token = await adopt(workflowId);
  expect(await adopt(workflowId)).toBe(token);
  const answered = new Set<string>();
  for (const client of stack.clients) {
    const { questions } = await untilReading(client, 'it asks', token, (reading) =>
      reading.questions.some(({ key }) => !answered.has(key)),
    );
    answered.add(questions[0]!.key);
    await client.answer(token, questions[0]!.key, { approved: true });
  }
  for (const client of stack.clients) {
    const { result } = await untilOver(client, token);
    expect([client.name, result]).toEqual([client.name, { answers: stack.clients.map(() => 'yes') }]);
  }
});

test.each([[], ['--subject', 'ann', '--tenant', 'acme']])(
  'a token is at most 60 characters longer than the encoded workflow ID, and replay finds its run: %j',
  async (...caller) => {
    const workflowId = await startByHand('Ticks', [5]);
    const token = await adopt(workflowId, ...caller);
    expect(token.length).toBeLessThanOrEqual(Buffer.from(workflowId).toString('base64url').length + 60);
    const replayed = () => run(stack.parts, ['replay', token, '--project', stack.project, ...caller]);
    expect(await replayed()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`UNKNOWN  ${workflowId}, Ticks`),
    });
    // A later execution of its ID is another operation.
    await (await handleOf(workflowId)).terminate();
    await (await temporal()).workflow.start('Ticks', { workflowId, taskQueue: QUEUE, args: [5] });
    expect(await replayed()).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('Temporal has no such operation'),
    });
    await (await handleOf(workflowId)).terminate();
  },
);

test('an adopted run is cancelled; a later execution of its workflow ID is not the same operation', async () => {
  const workflowId = await startByHand('Ticks', [5]);
  const token = await adopt(workflowId);
  const [client] = stack.clients as [ProtocolClient];
  await client.cancel(token);
  await untilReading(client, 'it is canceled', token, ({ states }) => states.includes('canceled'));
  await (await temporal()).workflow.start('Ticks', { workflowId, taskQueue: QUEUE, args: [5] });
  expect(await client.read(token)).toBeUndefined();
  await (await handleOf(workflowId)).terminate();
});

test('continue-as-new and reset keep the token', async () => {
  const workflowId = await startByHand('Continues', [1]);
  const token = await adopt(workflowId);
  const [client] = stack.clients as [ProtocolClient];
  await (await handleOf(workflowId)).signal('tick');
  expect((await untilOver(client, token)).result).toEqual({ left: 0 });
  await resetBefore(await temporal(), workflowId, (event) =>
    Boolean(event.workflowExecutionCompletedEventAttributes),
  );
  expect((await untilOver(client, token)).result).toEqual({ left: 0 });
});

test('the list of a tool with a filter has its runs, page by page, with tokens that hold', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => startByHand('Asks', [1])));
  const tokens = await Promise.all(ids.map((workflowId) => adopt(workflowId)));
  const listed = async () => {
    const found: any[] = [];
    let cursor: string | undefined;
    do {
      const { result } = await stack.parts.client.request('tools/call', {
        name: 'operation_list',
        arguments: { tool: 'asks', status: 'running', limit: 2, ...(cursor === undefined ? {} : { cursor }) },
      });
      found.push(...result.structuredContent.operations);
      cursor = result.structuredContent.next_cursor;
    } while (cursor !== undefined);
    return found.map(({ token }) => token);
  };
  await eventually('all are listed', async () => {
    const found = await listed();
    return tokens.every((token) => found.filter((one) => one === token).length === 1);
  });
  // A cancel by filter is for what Longhaul has started.
  const { result } = await stack.parts.client.request('tools/call', {
    name: 'operation_cancel',
    arguments: { filter: { tool: 'asks' } },
  });
  for (const token of tokens) expect(result.structuredContent.cancelled).not.toContain(token);
  for (const workflowId of ids)
    expect((await (await handleOf(workflowId)).describe()).status.name).toBe('RUNNING');
  for (const workflowId of ids) await (await handleOf(workflowId)).terminate();
});

test("what may not be adopted is refused, and a token is its owner's alone", async () => {
  const refusalOf = async (...words: string[]) => {
    const { code, stderr } = await run(stack.parts, ['adopt', '--project', stack.project, ...words]);
    return [code, stderr];
  };
  expect(await refusalOf(`no-${randomUUID()}`)).toEqual([
    4,
    expect.stringContaining('Temporal has no such workflow'),
  ]);
  const echo = await startByHand('Echo', []);
  expect(await refusalOf(echo)).toEqual([1, expect.stringContaining('expected the type')]);
  expect(await refusalOf(echo, '--tool', 'echo')).toEqual([2, expect.stringContaining('`adopt: true`')]);
  const own = await stack.clients[0]!.start('asks', { times: 1 }, randomUUID());
  expect(await refusalOf(own)).toEqual([1, expect.stringContaining('it is an operation already')]);
  const others = await adopt(await startByHand('Ticks', [1]), '--subject', 'somebody');
  for (const client of stack.clients)
    expect([client.name, await client.read(others)]).toEqual([client.name, undefined]);
  // Not one character may be changed.
  const token = await adopt(await startByHand('Ticks', [1]));
  expect(await stack.clients[0]!.read(forged(token))).toBeUndefined();
});
