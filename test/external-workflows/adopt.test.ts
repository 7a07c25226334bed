/** Runs that were started elsewhere: adopted by an operator, or listed by a tool's filter. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { eventually } from '../stack/cli-process.js';
import { run } from '../cli/commands.js';
import { forged } from '../support/forged.js';
import { PROCESSES_MS } from '../support/limits.js';
import { protocolClients, untilOver, untilReading, type ProtocolClient } from '../support/protocols/index.js';
import { resetBefore } from '../support/reset-workflow.js';
import { TestStack } from '../support/test-stack.js';
import { projectOf, startOddWorker, type OddWorker } from './support.js';

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

const PROJECT = projectOf(TOOLS);
let parts: TestStack;
let odd: OddWorker;
let clients: ProtocolClient[];
let temporal: Client;

beforeAll(async () => {
  [parts, odd] = await Promise.all([
    TestStack.serverOnSharedWorker({ LONGHAUL_PROJECT: PROJECT }),
    startOddWorker(QUEUE),
  ]);
  clients = protocolClients(parts.base);
  temporal = await parts.temporal();
}, PROCESSES_MS);
afterAll(async () => {
  await Promise.all((clients ?? []).map(async (one) => one.close?.()));
  await Promise.all([odd?.kill(), parts?.stop()]);
});

/** Starts a workflow as somebody would who doesn't know Longhaul. */
async function startedByHand(type: string, args: unknown[]): Promise<string> {
  const workflowId = `by-hand-${randomUUID()}`;
  await temporal.workflow.start(type, { workflowId, taskQueue: QUEUE, args });
  return workflowId;
}

const adopt = async (workflowId: string, ...flags: string[]) => {
  const { code, stdout, stderr } = await run(parts, ['adopt', workflowId, '--project', PROJECT, ...flags]);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${workflowId} is an operation of`)]);
  return stdout.trim();
};

test('every protocol reads, answers and collects an adopted run', async () => {
  const workflowId = await startedByHand('Asks', [clients.length]);
  const token = await adopt(workflowId);
  expect(await adopt(workflowId)).toBe(token);
  const answered = new Set<string>();
  for (const client of clients) {
    const { questions } = await untilReading(client, 'it asks', token, (reading) =>
      reading.questions.some(({ key }) => !answered.has(key)),
    );
    answered.add(questions[0]!.key);
    await client.answer(token, questions[0]!.key, { approved: true });
  }
  for (const client of clients) {
    const { result } = await untilOver(client, token);
    expect([client.name, result]).toEqual([client.name, { answers: clients.map(() => 'yes') }]);
  }
});

test.each([[], ['--subject', 'ann', '--tenant', 'acme']])(
  'a token is at most 60 characters longer than the encoded workflow ID, and replay finds its run: %j',
  async (...caller) => {
    const workflowId = await startedByHand('Ticks', [5]);
    const token = await adopt(workflowId, ...caller);
    expect(token.length).toBeLessThanOrEqual(Buffer.from(workflowId).toString('base64url').length + 60);
    const replayed = () => run(parts, ['replay', token, '--project', PROJECT, ...caller]);
    expect(await replayed()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`UNKNOWN  ${workflowId}, Ticks`),
    });
    // A later execution of its ID is another operation.
    await temporal.workflow.getHandle(workflowId).terminate();
    await temporal.workflow.start('Ticks', { workflowId, taskQueue: QUEUE, args: [5] });
    expect(await replayed()).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('Temporal has no such operation'),
    });
    await temporal.workflow.getHandle(workflowId).terminate();
  },
);

test('an adopted run is cancelled; a later execution of its workflow ID is not the same operation', async () => {
  const workflowId = await startedByHand('Ticks', [5]);
  const token = await adopt(workflowId);
  const [client] = clients as [ProtocolClient];
  await client.cancel(token);
  await untilReading(client, 'it is canceled', token, ({ states }) => states.includes('canceled'));
  await temporal.workflow.start('Ticks', { workflowId, taskQueue: QUEUE, args: [5] });
  expect(await client.read(token)).toBeUndefined();
  await temporal.workflow.getHandle(workflowId).terminate();
});

test('continue-as-new and reset keep the token', async () => {
  const workflowId = await startedByHand('Continues', [1]);
  const token = await adopt(workflowId);
  const [client] = clients as [ProtocolClient];
  await temporal.workflow.getHandle(workflowId).signal('tick');
  expect((await untilOver(client, token)).result).toEqual({ left: 0 });
  await resetBefore(temporal, workflowId, (event) =>
    Boolean(event.workflowExecutionCompletedEventAttributes),
  );
  expect((await untilOver(client, token)).result).toEqual({ left: 0 });
});

test('the list of a tool with a filter has its runs, page by page, with tokens that hold', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => startedByHand('Asks', [1])));
  const tokens = await Promise.all(ids.map((workflowId) => adopt(workflowId)));
  const listed = async () => {
    const found: any[] = [];
    let cursor: string | undefined;
    do {
      const { result } = await parts.client.request('tools/call', {
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
  const { result } = await parts.client.request('tools/call', {
    name: 'operation_cancel',
    arguments: { filter: { tool: 'asks' } },
  });
  for (const token of tokens) expect(result.structuredContent.cancelled).not.toContain(token);
  for (const workflowId of ids)
    expect((await temporal.workflow.getHandle(workflowId).describe()).status.name).toBe('RUNNING');
  await Promise.all(ids.map((workflowId) => temporal.workflow.getHandle(workflowId).terminate()));
});

test("what may not be adopted is refused, and a token is its owner's alone", async () => {
  const refusalOf = async (...words: string[]) => {
    const { code, stderr } = await run(parts, ['adopt', '--project', PROJECT, ...words]);
    return [code, stderr];
  };
  expect(await refusalOf(`no-${randomUUID()}`)).toEqual([
    4,
    expect.stringContaining('Temporal has no such workflow'),
  ]);
  const echo = await startedByHand('Echo', []);
  expect(await refusalOf(echo)).toEqual([1, expect.stringContaining('expected the type')]);
  expect(await refusalOf(echo, '--tool', 'echo')).toEqual([2, expect.stringContaining('`adopt: true`')]);
  const own = await clients[0]!.start('asks', { times: 1 }, randomUUID());
  expect(await refusalOf(own)).toEqual([1, expect.stringContaining('it is an operation already')]);
  const others = await adopt(await startedByHand('Ticks', [1]), '--subject', 'somebody');
  for (const client of clients)
    expect([client.name, await client.read(others)]).toEqual([client.name, undefined]);
  // Not one character may be changed.
  const token = await adopt(await startedByHand('Ticks', [1]));
  expect(await clients[0]!.read(forged(token))).toBeUndefined();
});
