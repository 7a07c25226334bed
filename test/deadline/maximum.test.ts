/** The published maximum duration holds without a worker, and with code that keeps failing. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { toDate } from '../../engine/read/history.js';
import type { OperationRecord } from '../../operations/record.js';
import { ANONYMOUS } from '../../operations/wire/index.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { afterAllTests, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import asksNothing from '../fixtures/project/tools/asks_nothing.js';
import timed from '../fixtures/project/tools/timed.js';

/** Maximum and budget of the test's tools, and how long a reader sees no worker before it ends a run, in milliseconds. */
const [MAXIMUM_MS, CLEANUP_MS, STUCK_MS] = [10_000, 4_000, 10_000];

const MESSAGE = 'the work took longer than its maximum of 10 s, and no worker ended it';
const FAILING =
  /^the work took longer than its maximum of 10 s; its code kept failing: each task fails \(thrown in \w+ at workflows\/\w+\.ts:\d+\)$/;

/** Operations by what they do. */
const tokens: Record<string, string> = {};

const read = (token: string) => engines[0]!.read(ANONYMOUS, token);
const until = (token: string, what: string, isSo: (record: OperationRecord) => boolean) =>
  eventually(what, async () => {
    const record = await read(token);
    return isSo(record) ? record : undefined;
  });
const ended = (token: string) => until(token, 'it has ended', ({ closedAt }) => closedAt !== undefined);
const describeRun = async (token: string) => (await parts.temporal()).workflow.getHandle(token).describe();
/** From the start of a run to its end, in milliseconds. */
const durationMs = async (token: string) => {
  const { startTime, closeTime } = await describeRun(token);
  return closeTime!.getTime() - startTime.getTime();
};

const eventsOf = async (token: string) =>
  (await (await parts.temporal()).workflow.getHandle(token).fetchHistory()).events!;
const startOf = async (token: string) => (await eventsOf(token))[0]!.workflowExecutionStartedEventAttributes!;
/** Event of an operation's first completed workflow task. */
const firstTaskOf = async (token: string) =>
  (await eventsOf(token)).find((event) => event.workflowTaskCompletedEventAttributes);

// Own stack: its worker is killed.
const parts = await forAllTests(TestStack.start());
const engines = await inSetUp(
  Promise.all(
    Array.from({ length: 3 }, () => connectEngine(parts.taskQueue, { tools: [asksNothing, timed] })),
  ),
);
const { client } = parts;
beforeAll(async () => {
  tokens['failing, asks nothing'] = await client.start('asks_nothing', { fails: true });
  tokens['failing'] = await client.start('timed', { fails: true });
  tokens['asked'] = await client.start('timed', { asks: true });
  tokens['answered'] = await client.start('timed', { asks: true });
  tokens['continued'] = await client.start('timed', { asks: true, continuesAfterMs: 500 });
  for (const name of ['asked', 'answered', 'continued']) await client.until(tokens[name]!, 'input_required');
});
afterAllTests(async () => {
  for (const { temporal } of engines ?? []) await temporal.close();
});

test('code that keeps failing ends with the maximum and the budget for the end, though a worker is there', async () => {
  const [strict, other] = [await ended(tokens['failing, asks nothing']!), await ended(tokens['failing']!)];
  for (const { status, error } of [strict, other])
    expect({ status, error }).toMatchObject({
      status: 'timed_out',
      error: { kind: 'timed_out', message: expect.stringMatching(FAILING) },
    });
  expect((await describeRun(strict.token)).status.name).toBe('TIMED_OUT');
  expect((await describeRun(other.token)).status.name).toBe('TERMINATED');
  expect(await durationMs(other.token)).toBeGreaterThanOrEqual(MAXIMUM_MS + CLEANUP_MS);
  // Temporal counts the time-out that it was given from the request, shortly before the run's start.
  const { workflowExecutionTimeout, workflowExecutionExpirationTime } = await startOf(strict.token);
  expect(Number(workflowExecutionTimeout!.seconds) * 1000).toBe(MAXIMUM_MS + CLEANUP_MS);
  const { closeTime } = await describeRun(strict.token);
  expect(closeTime!.getTime()).toBeGreaterThanOrEqual(
    Math.floor(toDate(workflowExecutionExpirationTime!).getTime()),
  );
});

test('an operation of a tool that declares that it asks nothing fails with a question', async () => {
  const { error } = await ended(await parts.client.start('asks_nothing', { asks: true }));
  expect(error).toMatchObject({ kind: 'failed', type: 'UndeclaredQuestion' });
});

test('a server whose clock is ahead ends nothing while a worker is there', async () => {
  const { token } = await engines[2]!.start(ANONYMOUS, timed, { asks: false });
  await until(token, 'a worker has taken it', ({ status }) => status === 'working');
  const now = Date.now.bind(Date);
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 24 * 3600_000);
  try {
    await eventually(
      'it has ended',
      async () => (await engines[2]!.read(ANONYMOUS, token)).status !== 'working',
    );
  } finally {
    clock.mockRestore();
  }
  // Its worker has ended it.
  expect(await read(token)).toMatchObject({ status: 'timed_out' });
  expect((await describeRun(token)).status.name).toBe('FAILED');
});

describe('with every worker down', () => {
  /** Operations whose question was answered; they are read from the first moment without workers on. */
  let answered: Promise<OperationRecord[]>;
  beforeAll(async () => {
    // The questions are open for longer than the maximum by now.
    const { client } = parts;
    for (const name of ['answered', 'continued'])
      await engines[0]!.answer(ANONYMOUS, tokens[name]!, 'input-1', {
        action: 'accept',
        content: { sure: true },
      });
    await eventually('it has continued', async () => {
      const { execution, firstRunId } = (await describeRun(tokens['continued']!)).raw.workflowExecutionInfo!;
      return execution!.runId !== firstRunId;
    });
    tokens['asks nothing'] = await client.start('asks_nothing');
    tokens['in a child'] = await client.start('timed', { inChild: true });
    tokens['unread'] = await client.start('timed');
    await eventually(
      'a worker has taken it',
      async () => (await describeRun(tokens['in a child']!)).raw.pendingChildren!.length === 1,
    );
    await eventually('a worker has taken the last one', () => firstTaskOf(tokens['unread']!));
    await parts.parts[1]!.end('SIGKILL');
    answered = Promise.all(['answered', 'continued'].map((name) => ended(tokens[name]!)));
    answered.catch(() => undefined);
    tokens['not taken'] = await client.start('timed');
  });

  test('an operation that asks nothing is ended by Temporal after the maximum and the budget for the end', async () => {
    const { status, error, token } = await ended(tokens['asks nothing']!);
    expect({ status, error }).toMatchObject({ status: 'timed_out', error: { message: MESSAGE } });
    expect((await describeRun(token)).status.name).toBe('TIMED_OUT');
  });

  test.each(['in a child', 'not taken'])(
    'one that may ask and works %s is ended by its readers, once, with a reason for operators',
    async (name) => {
      const token = tokens[name]!;
      const records = await eventually('each server reads that it has ended', async () => {
        const read = await Promise.all(engines.map((engine) => engine.read(ANONYMOUS, token)));
        return read.every(({ closedAt }) => closedAt) ? read : undefined;
      });
      for (const { status, error } of records)
        expect({ status, error }).toMatchObject({ status: 'timed_out', error: { message: MESSAGE } });
      const { events } = await (await parts.temporal()).workflow.getHandle(token).fetchHistory();
      const terminated = events!.at(-1)!.workflowExecutionTerminatedEventAttributes!;
      expect(terminated.reason).toBe(`longhaul.timed_out: ${MESSAGE}`);
      expect(await durationMs(token)).toBeGreaterThan(MAXIMUM_MS + CLEANUP_MS + STUCK_MS);
    },
  );

  test("people's time doesn't count, in an operation and in the one that continues it", async () => {
    for (const record of await answered) {
      expect(record).toMatchObject({ status: 'timed_out', error: { message: MESSAGE } });
      const answeredAt = Date.parse(record.answers![0]!.at);
      const afterMs = Date.parse(record.closedAt!) - answeredAt;
      // Before the question and until the answer was taken, some of the maximum had passed.
      expect(afterMs).toBeGreaterThan(CLEANUP_MS + STUCK_MS + MAXIMUM_MS / 2);
    }
    expect(await read(tokens['asked']!)).toMatchObject({ status: 'input_required' });
  });

  test('the sweep ends what nobody reads, and leaves alone what waits for people', async () => {
    const token = tokens['unread']!;
    await eventually('the sweep has ended it', async () => {
      await engines[1]!.sweepOverdue();
      return (await describeRun(token)).status.name === 'TERMINATED';
    });
    expect(await engines[1]!.sweepOverdue()).toBe(0);
    expect(await read(token)).toMatchObject({ status: 'timed_out' });
    expect(await read(tokens['asked']!)).toMatchObject({ status: 'input_required' });
  });

  test('lists have them as timed out, and an operator’s termination as failed', async () => {
    const terminated = await parts.client.start('timed');
    await (await parts.temporal()).workflow.getHandle(terminated).terminate('disk is full');
    const listed = async (status: OperationRecord['status']) => {
      const { operations } = await engines[0]!.list(ANONYMOUS, { status, tool: 'timed' });
      return operations.map(({ token }) => token);
    };
    const late = ['failing', 'in a child', 'not taken', 'unread'].map((name) => tokens[name]!);
    await eventually('they are listed', async () => (await listed('failed')).includes(terminated));
    const failed = await listed('failed');
    expect(late.filter((token) => failed.includes(token))).toEqual([]);
    expect(await listed('timed_out')).toEqual(expect.arrayContaining(late));
    expect(await listed('timed_out')).not.toContain(terminated);
  });

  test('a reset of one that was ended is not overdue until its maximum has passed again', async () => {
    const token = tokens['unread']!;
    const temporal = await parts.temporal();
    const task = (await firstTaskOf(token))!;
    const resetAt = Date.now();
    await temporal.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: token },
      reason: 'once more',
      workflowTaskFinishEventId: task.eventId!,
      requestId: randomUUID(),
    });
    await until(token, 'it is open', ({ status }) => status !== 'timed_out');
    const { closedAt } = await ended(token);
    expect(Date.parse(closedAt!) - resetAt).toBeGreaterThan(MAXIMUM_MS + CLEANUP_MS);
  });
});
