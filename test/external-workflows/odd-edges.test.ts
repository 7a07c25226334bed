/** Faults between a tool and its workflow: queries, racing answers, resets, time-outs and queues without a worker. */
import { describe, expect, jest, test } from '@jest/globals';
import { defaultPayloadConverter } from '@temporalio/common';
import { answerHeader, identified } from '../../engine/answer/claims.js';
import { answerExternal } from '../../engine/external/answer.js';
import { TemporalClient } from '../../engine/temporal/client.js';
import { parseTool } from '../../external-workflows/parse.js';
import type { Tool } from '../../operations/tool/index.js';
import { createLogger } from '../../platform/observe/log.js';
import { loadSecret } from '../../platform/home/secret.js';
import { Signer } from '../../platform/temporal/signer.js';
import { openStorage } from '../../platform/storage/index.js';
import { PROCESSES_MS } from '../support/limits.js';
import { Refused } from '../support/protocols/index.js';
import { QUEUE, TOOLS } from './odd-support.js';
import { OddStack, startOddWorker } from './support.js';

jest.setTimeout(PROCESSES_MS);

const stack = OddStack.ofFile(QUEUE, TOOLS);
const { begin: start, until, ended, shown, handleOf, tick } = stack;

describe('progress', () => {
  test('a query that the workflow lacks or that throws is named, and the work goes its way', async () => {
    const works = [
      ['lacking', 'its query progres failed'],
      ['throwing', 'its query throws failed: not today'],
    ].map(async ([tool, why]) => {
      const token = await start(tool!, { goal: 1 });
      await until('the problem is shown', token, ({ raw }) => JSON.stringify(raw).includes(why!));
      await tick(token);
      expect((await ended(token)).result).toEqual({ ticks: 1 });
    });
    await Promise.all(works);
  });

  test('a query that hangs holds nobody up, and is named', async () => {
    const token = await start('ticks', { goal: 2 });
    await until('it is known', token, ({ raw }) => JSON.stringify(raw).includes('first'));
    await tick(token);
    await until('the tick shows', token, ({ progress }) => progress.progress === 1);
    stack.odd.signal('SIGSTOP');
    try {
      await tick(token);
      await until('the problem is shown', token, ({ raw }) =>
        /its query progress \w/.test(JSON.stringify(raw)),
      );
    } finally {
      stack.odd.signal('SIGCONT');
    }
    expect((await ended(token)).result).toEqual({ ticks: 2 });
  });

  test('it is asked at most every 10 s, for all readers together, and only once the workflow has run', async () => {
    const token = await start('ticks', { goal: 100 });
    await until('it is known', token, ({ raw }) => JSON.stringify(raw).includes('first'));
    const askedCount = () => stack.odd.output().split(`asked ${token}`).length - 1;
    const startMs = Date.now();
    const allowed = () => 2 + Math.floor((Date.now() - startMs) / 10_000);
    for (let round = 0; round < 5; round += 1) await Promise.all(stack.clients.map((one) => one.read(token)));
    expect(askedCount()).toBeLessThanOrEqual(allowed());
    await tick(token);
    await until('it is asked again', token, () => askedCount() >= 2);
    // Ten stack.clients that look again and again, for longer than an interval.
    await tick(token);
    await until('a second tick shows', token, async ({ progress }) => {
      await Promise.all(stack.clients.map((one) => one.read(token)));
      return progress.progress >= 2;
    });
    expect(askedCount()).toBeLessThanOrEqual(allowed());
    await (await handleOf(token)).terminate('enough');
    expect((await ended(token)).states).toEqual(['failed']);
    expect(await shown(token)).toContain('terminated by an operator: enough');
  });
});

describe('questions', () => {
  test('answers that do not fit, that the workflow refuses, or that come too late are refused', async () => {
    const token = await start('asks', { times: 1 });
    const { questions } = await until('it asks', token, (reading) => reading.questions[0]);
    const { key } = questions[0]!;
    const refusalOf = (given: object) =>
      stack.client.answer(token, key, given as never).then(
        () => undefined,
        (error: unknown) => (error as Refused).message,
      );
    expect(await refusalOf({ approved: 'maybe' })).toContain('content.approved: expected boolean');
    expect(await refusalOf({ approved: true, comment: 'rude' })).toContain(
      'the workflow refused it: be polite',
    );
    expect(
      await stack.client.answer(token, 'question-000000000000', { approved: true }).catch((error) => error),
    ).toBeInstanceOf(Refused);
    expect(await refusalOf({ approved: true })).toBeUndefined();
    await ended(token);
    expect(await refusalOf({ approved: true })).toContain('completed');
  });

  test('exactly one of two racing answers is accepted', async () => {
    const token = await start('asks', { times: 1 });
    const { questions } = await until('it asks', token, (reading) => reading.questions[0]);
    const { key } = questions[0]!;
    const racing = await Promise.allSettled(
      ['one', 'two', 'three'].map((comment) => stack.client.answer(token, key, { approved: true, comment })),
    );
    expect(racing.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { result } = await ended(token);
    const [accepted] = racing
      .map(({ status }, index) => status === 'fulfilled' && index)
      .filter((index) => index !== false);
    expect(result).toEqual({ answers: [`yes (${['one', 'two', 'three'][accepted as number]})`] });
  });
  test('an answer to a run that closes meanwhile is refused as one to a closed operation, unless it was taken', async () => {
    const token = await start('asks', { times: 1 });
    const { questions } = await until('it asks', token, (reading) => reading.questions[0]);
    const { key } = questions[0]!;
    await stack.client.answer(token, key, { approved: true });
    await ended(token);
    const { runId } = await (await handleOf(token)).describe();
    const home = process.env['LONGHAUL_HOME']!;
    const storage = openStorage({ home });
    const temporal = new TemporalClient(
      { home, taskQueue: QUEUE },
      storage,
      createLogger('test', 'warn'),
      PROCESSES_MS,
    );
    const { value } = parseTool(TOOLS['asks.yaml'], 'asks.yaml');
    const mapping = (value as Tool).external!.question!;
    const signer = new Signer(loadSecret(home));
    const answered = async (content: Record<string, unknown>, questionKey = key) => {
      // As read before the run closed.
      const records = [
        { runId, principal: 'anonymous', status: 'input_required', inputRequests: { [questionKey]: {} } },
        { status: 'completed' },
      ];
      const read = () => Promise.resolve(records.shift() as never);
      const answer = { action: 'accept', content } as const;
      const by = { principal: 'anonymous' };
      const input = identified(signer, token, { key: questionKey, answer, by });
      const header = answerHeader(signer, token, input, by);
      return answerExternal({ temporal, workflowId: token, read, mapping, signer }, answer, header);
    };
    try {
      expect(await answered({ approved: true })).toBe('accepted');
      await expect(answered({ approved: false })).rejects.toThrow('was answered by somebody else');
      await expect(answered({ approved: true }, 'question-000000000000')).rejects.toThrow(
        'the operation is completed',
      );
    } finally {
      await temporal.close();
    }
  });
});

describe('an answer that is a signal', () => {
  const good = { id: 'a', verdict: 'good' };
  const bad = { id: 'a', verdict: 'bad' };

  /** Signals in a history, with the keys and IDs in their headers. */
  const signalsOf = async (token: string) => {
    const { events } = await (await handleOf(token)).fetchHistory();
    return events!.flatMap(({ workflowExecutionSignaledEventAttributes: signaled }) => {
      const header = signaled?.header?.fields?.['longhaul_answer'];
      return signaled?.signalName === 'reply'
        ? [header && JSON.parse(Buffer.from(header.data!).toString())]
        : [];
    });
  };
  const refusalOf = (answer: Promise<unknown>) =>
    answer.then(
      () => undefined,
      (error: unknown) => (error as Refused).message,
    );

  test('is sent once, and another one is refused, while no worker takes it', async () => {
    const jobs = stack.clients.at(-1)!;
    const token = await start('reviews', { names: ['a'] });
    await until('it asks', token, ({ questions }) => questions.length === 1);
    stack.odd.signal('SIGSTOP');
    try {
      expect(await jobs.answer(token, 'a', good)).toBe('queued');
      expect(await jobs.answer(token, 'a', good)).toBe('queued');
      expect(await refusalOf(jobs.answer(token, 'a', bad))).toMatch(/"a" was already answered, at /);
      const { states, questions, answers } = (await jobs.read(token))!;
      expect([states, questions, answers]).toEqual([
        ['working'],
        [],
        [expect.objectContaining({ key: 'a', state: 'queued' })],
      ]);
    } finally {
      stack.odd.signal('SIGCONT');
    }
    expect((await ended(token)).result).toEqual({ a: 'good' });
    const [header, ...others] = await signalsOf(token);
    expect([header.key, header.by, others]).toEqual(['a', { principal: 'anonymous' }, []]);
    expect(await jobs.answer(token, 'a', good)).toBe('accepted');
    expect(await refusalOf(jobs.answer(token, 'a', bad))).toMatch(/already answered/);
    expect(await signalsOf(token)).toHaveLength(1);
  });

  test("signals of others, also with a header of somebody else's making, block nobody", async () => {
    const jobs = stack.clients.at(-1)!;
    const token = await start('reviews', { names: ['a', 'b'] });
    await until('it asks', token, ({ questions }) => questions.length === 2);
    const forged = {
      ...{ key: 'a', answerId: 'x', action: 'accept', by: { principal: 'anonymous' } },
      signature: `answer.00000000.${'0'.repeat(40)}.${'x'.repeat(32)}`,
    };
    const { workflowService } = await stack.parts.temporal();
    await workflowService.signalWorkflowExecution({
      ...{ namespace: 'default', workflowExecution: { workflowId: token }, signalName: 'reply' },
      input: { payloads: [defaultPayloadConverter.toPayload({ id: 'b', verdict: 'bad' })] },
      header: { fields: { longhaul_answer: defaultPayloadConverter.toPayload(forged) } },
    });
    expect(await jobs.answer(token, 'a', good)).toBe('queued');
    expect((await ended(token)).result).toEqual({ a: 'good', b: 'bad' });
  });
});

describe('operators and workers', () => {
  test('a later run that no worker has taken yet is at work, over each protocol', async () => {
    const queue = `elsewhere-${QUEUE}`;
    const token = await start('moves', { queue });
    const isMoved = ({ raw }: any) => JSON.stringify(raw).includes(`from task queue \\"${queue}\\"`);
    await until('it has moved', token, isMoved);
    for (const client of stack.clients) expect((await client.read(token))?.states).toContain('working');
    await (await handleOf(token)).terminate();
  });

  test("Temporal's own time-out ends it; a type that no worker has, and a queue that nobody polls, are named", async () => {
    const [late, unknown, unserved] = await Promise.all([
      start('short', { goal: 1 }),
      start('unknown_type'),
      start('unserved'),
    ]);
    await until('the queue is named', unserved, ({ raw }) =>
      JSON.stringify(raw).includes(`no worker takes work from task queue \\"nobody-${QUEUE}\\"`),
    );
    await until('the type is named', unknown, ({ raw }) => JSON.stringify(raw).includes('NoSuchWorkflow'));
    const worker = await startOddWorker(`nobody-${QUEUE}`);
    try {
      expect((await ended(unserved)).states).toEqual(['completed']);
    } finally {
      await worker.kill();
      await (await handleOf(unknown)).terminate();
    }
    expect((await ended(late)).states).toEqual(['timed_out']);
    expect(await shown(late)).toContain('the work took longer than its maximum of 3 s');
  });
});
