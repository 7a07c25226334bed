/** Tools over workflows of a worker without Longhaul, which has no idea of operations and is odd in many ways. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { answerExternal } from '../../engine/external/answer.js';
import { TemporalClient } from '../../engine/temporal.js';
import { parseTool } from '../../external-workflows/parse.js';
import type { Tool } from '../../operations/tool.js';
import { createLogger } from '../../platform/log.js';
import { openStorage } from '../../platform/storage/index.js';
import { PROCESSES_MS } from '../support/limits.js';
import { plainClient } from '../support/protocols/plain.js';
import {
  protocolClients,
  Refused,
  untilOver,
  untilReading,
  type ProtocolClient,
} from '../support/protocols/index.js';
import { stateless } from '../support/protocols/rpc.js';
import { resetBefore, type HistoryEvent } from '../support/reset-workflow.js';
import { TestStack } from '../support/test-stack.js';
import { projectOf, startOddWorker, type OddWorker } from './support.js';

jest.setTimeout(PROCESSES_MS);

const QUEUE = `odd-${randomUUID()}`;
const workflow = (type: string) => `workflow: { type: ${type}, task-queue: ${QUEUE} }`;
const TICKS_INPUT = 'input: { properties: { goal: { type: integer } }, required: [goal] }';

const TOOLS = {
  'result.yaml': `${workflow('Result')}\ninput: { properties: { kind: { type: string } } }\nargs: [kind]\n`,
  'echo.yaml': `${workflow('Echo')}
input: { properties: { first: { type: string }, second: { type: integer }, wait_minutes: { type: number } } }
args: [first, second, { wait: wait_minutes }]
`,
  'fails.yaml': `${workflow('Fails')}\ninput: { properties: { message: { type: string } } }\nargs: [message]\nretryable-errors: [Odd]\n`,
  'beats.yaml': `${workflow('Heartbeats')}
input: { properties: { rows: { type: integer } } }
args: [rows]
progress: { heartbeats: true, map: { progress: rows, total: total } }
`,
  'unmapped.yaml': `${workflow('Heartbeats')}\ninput: { properties: { rows: { type: integer } } }\nargs: [rows]\n`,
  'ticks.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: progress, map: { progress: at.done, total: at.of, stage: step } }
`,
  'lacking.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: progres, map: { progress: at.done } }
`,
  'throwing.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: throws, map: { progress: at.done } }
`,
  'asks.yaml': `${workflow('Asks')}
input: { properties: { times: { type: integer } } }
args: [times]
question:
  query: question
  fields: { properties: { approved: { type: boolean }, comment: { type: string } }, required: [approved] }
  answer: { update: decide, args: [approved, comment], decline: [false, declined] }
`,
  'reviews.yaml': `${workflow('Reviews')}
input: { properties: { names: { type: array, items: { type: string } } } }
args: [names]
question:
  query: open
  key: id
  fields: { properties: { id: { type: string }, verdict: { enum: [good, bad] } }, required: [id, verdict] }
  answer: { signal: reply }
`,
  'stubborn.yaml': workflow('Stubborn'),
  'stops.yaml': `${workflow('Stops')}\ncancel: { signal: stop, args: [asked to] }\n`,
  'continues.yaml': `${workflow('Continues')}
input: { properties: { left: { type: integer } } }
args: [left]
progress: { query: progress, map: { progress: at.done, total: at.of, stage: step } }
`,
  'unknown_type.yaml': workflow('NoSuchWorkflow'),
  'unserved.yaml': `workflow: { type: Echo, task-queue: nobody-${QUEUE} }\n`,
  'named.yaml': `workflow: { type: Ticks, task-queue: ${QUEUE}, id: 'order-${QUEUE}-{goal}' }
${TICKS_INPUT}
args: [goal]
`,
  'short.yaml': `${workflow('Ticks')}\n${TICKS_INPUT}\nargs: [goal]\ntimeout-minutes: 0.05\n`,
};

let parts: TestStack;
let odd: OddWorker;
let clients: ProtocolClient[];
let client: ProtocolClient;

beforeAll(async () => {
  [parts, odd] = await Promise.all([
    TestStack.serverOnSharedWorker({ LONGHAUL_PROJECT: projectOf(TOOLS) }),
    startOddWorker(QUEUE),
  ]);
  clients = protocolClients(parts.base);
  client = plainClient(stateless(`${parts.base}/mcp`, {}));
}, PROCESSES_MS);
afterAll(async () => {
  await Promise.all((clients ?? []).map(async (one) => one.close?.()));
  await Promise.all([odd?.kill(), parts?.stop()]);
});

const start = (tool: string, args: object = {}) => client.start(tool, args, randomUUID());
const until = (what: string, token: string, holds: (reading: any) => unknown, on = client) =>
  untilReading(on, what, token, holds);
const ended = (token: string, on = client) => untilOver(on, token);
/** The plain contract's whole answer, as text: it has the status message. */
const shown = async (token: string) => JSON.stringify((await client.read(token))?.raw);
const handleOf = async (token: string) => (await parts.temporal()).workflow.getHandle(token);
const tick = async (token: string) => (await handleOf(token)).signal('tick');

describe('values', () => {
  test('arguments reach the workflow in the order of the file; objects are made of inputs', async () => {
    const { result } = await ended(await start('echo', { first: 'a', wait_minutes: 3 }));
    expect(result).toEqual({ args: ['a', null, { wait: 3 }] });
  });

  test.each([
    ['text', { result: 'done' }],
    ['list', { result: [1, 2] }],
    ['null', { result: null }],
    ['none', { result: null }],
  ])('a result that is %s becomes an object', async (kind, expected) => {
    const { result } = await ended(await start('result', { kind }));
    expect(result).toEqual(expected);
  });

  test('a failure has its message', async () => {
    const token = await start('fails', { message: 'the printer is on fire' });
    const { states } = await ended(token);
    expect(states).toEqual(['failed']);
    expect(await shown(token)).toContain('the printer is on fire');
    expect(((await client.read(token))!.raw as any).error).toMatchObject({ kind: 'failed', retryable: true });
  });
});

describe('progress', () => {
  test('a query gives it; it never falls; the result comes as it is', async () => {
    const token = await start('ticks', { goal: 4 });
    await until('the first stage', token, ({ raw }) => JSON.stringify(raw).includes('first'));
    await tick(token);
    await tick(token);
    await until('two of four', token, ({ progress }) => progress?.progress === 2);
    await tick(token);
    // The query's own value is 1 now.
    await until('the query is asked again', token, ({ raw }) => JSON.stringify(raw).includes('second'));
    expect((await client.read(token))!.progress).toMatchObject({ progress: 2, total: 4 });
    await tick(token);
    expect((await ended(token)).result).toEqual({ ticks: 4 });
  });

  test('heartbeats give it where the file says so, and are shown where it says nothing', async () => {
    const [mapped, unmapped] = await Promise.all([
      start('beats', { rows: 20 }),
      start('unmapped', { rows: 20 }),
    ]);
    await until(
      'its share',
      mapped,
      ({ progress }) => progress && progress.progress >= 2 && progress.total === 20,
    );
    await until('the heartbeat', unmapped, ({ raw }) =>
      /countRows: \{\\"rows\\":\d+,\\"total\\":20\}/.test(JSON.stringify(raw)),
    );
    await client.cancel(mapped);
    expect((await ended(mapped)).states).toEqual(['canceled']);
    expect((await ended(unmapped)).result).toEqual({ rows: 20 });
  });

  test.each([
    ['lacking', 'its query progres failed'],
    ['throwing', 'its query throws failed: not today'],
  ])(
    'a query that the workflow lacks or that throws is named (%s), and the work goes its way',
    async (tool, why) => {
      const token = await start(tool, { goal: 1 });
      await until('the problem is shown', token, ({ raw }) => JSON.stringify(raw).includes(why));
      await tick(token);
      expect((await ended(token)).result).toEqual({ ticks: 1 });
    },
  );

  test('a query that hangs holds nobody up, and is named', async () => {
    const token = await start('ticks', { goal: 2 });
    await until('it is known', token, ({ raw }) => JSON.stringify(raw).includes('first'));
    await tick(token);
    await until('the tick shows', token, ({ progress }) => progress.progress === 1);
    odd.signal('SIGSTOP');
    try {
      await tick(token);
      await until('the problem is shown', token, ({ raw }) =>
        /its query progress \w/.test(JSON.stringify(raw)),
      );
    } finally {
      odd.signal('SIGCONT');
    }
    expect((await ended(token)).result).toEqual({ ticks: 2 });
  });

  test('it is asked at most every 10 s, for all readers together, and only once the workflow has run', async () => {
    const token = await start('ticks', { goal: 100 });
    await until('it is known', token, ({ raw }) => JSON.stringify(raw).includes('first'));
    const askedCount = () => odd.output().split(`asked ${token}`).length - 1;
    for (let round = 0; round < 5; round += 1) await Promise.all(clients.map((one) => one.read(token)));
    expect(askedCount()).toBe(1);
    await tick(token);
    await until('it is asked again', token, () => askedCount() === 2);
    // Ten clients that look again and again, for longer than an interval.
    await tick(token);
    await until('a second tick shows', token, async ({ progress }) => {
      await Promise.all(clients.map((one) => one.read(token)));
      return progress.progress >= 2;
    });
    expect(askedCount()).toBeLessThanOrEqual(4);
    await (await handleOf(token)).terminate('enough');
    expect((await ended(token)).states).toEqual(['failed']);
    expect(await shown(token)).toContain('terminated by an operator: enough');
  });
});

describe('questions', () => {
  test('the same question asked again has another key; an update takes the answer, also a decline', async () => {
    const token = await start('asks', { times: 3 });
    const keys: string[] = [];
    for (const given of [{ approved: true, comment: 'fine' }, { approved: false }, 'decline'] as const) {
      const { questions } = await until(
        'it asks',
        token,
        (reading) => reading.questions[0] && !keys.includes(reading.questions[0].key),
      );
      expect(questions).toMatchObject([{ message: 'Once more?' }]);
      const { key } = questions[0]!;
      keys.push(key);
      expect(await client.answer(token, key, given)).not.toBe('queued');
    }
    expect((await ended(token)).result).toEqual({ answers: ['yes (fine)', 'no', 'no (declined)'] });
    expect(new Set(keys).size).toBe(3);
  });

  test('answers that do not fit, that the workflow refuses, or that come too late are refused', async () => {
    const token = await start('asks', { times: 1 });
    const { questions } = await until('it asks', token, (reading) => reading.questions[0]);
    const { key } = questions[0]!;
    const refusalOf = (given: object) =>
      client.answer(token, key, given as never).then(
        () => undefined,
        (error: unknown) => (error as Refused).message,
      );
    expect(await refusalOf({ approved: 'maybe' })).toContain('content.approved: expected boolean');
    expect(await refusalOf({ approved: true, comment: 'rude' })).toContain(
      'the workflow refused it: be polite',
    );
    expect(
      await client.answer(token, 'question-000000000000', { approved: true }).catch((error) => error),
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
      ['one', 'two', 'three'].map((comment) => client.answer(token, key, { approved: true, comment })),
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
    await client.answer(token, key, { approved: true });
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
    const answered = async (content: object, questionKey = key) => {
      // As read before the run closed.
      const records = [
        { runId, principal: 'anonymous', status: 'input_required', inputRequests: { [questionKey]: {} } },
        { status: 'completed' },
      ];
      const given = {
        mapping,
        key: questionKey,
        answer: { action: 'accept', content },
        by: { principal: 'anonymous' },
      };
      return answerExternal(temporal, token, () => Promise.resolve(records.shift() as never), given as never);
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

  test('several questions at once keep their keys while others are answered, by a signal', async () => {
    const token = await start('reviews', { names: ['a', 'b', 'c'] });
    await until('it asks', token, ({ questions }) => questions.length === 3);
    for (const id of ['b', 'a', 'c']) {
      await client.answer(token, id, { id, verdict: 'good' });
      if (id !== 'c')
        await until(
          `${id} is answered`,
          token,
          ({ questions }) => !questions.some(({ key }: { key: string }) => key === id),
        );
    }
    expect((await ended(token)).result).toEqual({ a: 'good', b: 'good', c: 'good' });
  });
});

describe('cancel', () => {
  test('work that completes nevertheless is canceled where that was final, and completed elsewhere', async () => {
    const token = await start('stubborn');
    await until('it runs', token, ({ states }) => !states.includes('submitted'));
    const older = clients.find(({ name }) => name.includes('2025-11-25 tasks'))!;
    const tokens = clients.filter(({ name }) => /1391/i.test(name));
    await client.cancel(token);
    await until(
      'the older revision says so at once',
      token,
      ({ states }) => states.includes('canceled') || states.includes('canceling'),
      older,
    );
    expect((await ended(token)).states).toEqual(['completed']);
    expect((await ended(token)).result).toEqual({ saved: true });
    for (const one of [older, ...tokens]) expect((await ended(token, one)).states).toContain('canceled');
    for (const one of clients.filter((other) => other !== older && !tokens.includes(other)))
      expect([one.name, (await ended(token, one)).states]).toEqual([one.name, ['completed']]);
  });

  test('a signal instead of the request is sent once, and shows as a cancel', async () => {
    const token = await start('stops');
    await until('it runs', token, ({ states }) => !states.includes('submitted'));
    await client.cancel(token);
    await client.cancel(token);
    await until('it is being cancelled', token, ({ raw }) => JSON.stringify(raw).includes('being cancelled'));
    expect((await ended(token)).result).toEqual({ stopped: ['asked to'] });
  });
});

describe('operators and workers', () => {
  test('continue-as-new and reset keep the token', async () => {
    const token = await start('continues', { left: 2 });
    await until('the first run', token, ({ raw }) => JSON.stringify(raw).includes('left 2'));
    await tick(token);
    await until('the second run', token, ({ raw }) => JSON.stringify(raw).includes('left 1'));
    await tick(token);
    expect((await ended(token)).result).toEqual({ left: 0 });
    const isCompletion = ({ workflowExecutionCompletedEventAttributes: completed }: HistoryEvent) =>
      Boolean(completed);
    await resetBefore(await parts.temporal(), token, isCompletion);
    // The cached record of a closed operation lasts 5 s.
    await until('it has ended again', token, ({ isOver, result }) => isOver && result.left === 0);
  });

  test("Temporal's own time-out ends it, as published", async () => {
    const token = await start('short', { goal: 1 });
    expect((await ended(token)).states).toEqual(['timed_out']);
    expect(await shown(token)).toContain('the work took longer than its maximum of 3 s');
  });

  test('a type that no worker has, and a queue that nobody polls, are named', async () => {
    const [unknown, unserved] = await Promise.all([start('unknown_type'), start('unserved')]);
    await until('the queue is named', unserved, ({ raw }) =>
      JSON.stringify(raw).includes(`no worker takes work from task queue \\"nobody-${QUEUE}\\"`),
    );
    await until('the type is named', unknown, ({ raw }) => JSON.stringify(raw).includes('NoSuchWorkflow'));
    const late = await startOddWorker(`nobody-${QUEUE}`);
    try {
      expect((await ended(unserved)).states).toEqual(['completed']);
    } finally {
      await late.kill();
      await (await handleOf(unknown)).terminate();
    }
  });
});

describe('workflow IDs of the author', () => {
  test('the ID is used, the token is sealed, and an ID in use is refused; later it is free again', async () => {
    const key = randomUUID();
    const token = await client.start('named', { goal: 7 }, key);
    expect(token).toMatch(/^run\./);
    expect(await client.start('named', { goal: 7 }, key)).toBe(token);
    const workflowId = `order-${QUEUE}-7`;
    await expect(start('named', { goal: 7 })).rejects.toThrow(
      `a workflow with the ID "${workflowId}" is open`,
    );
    // Its own workflow ID is no token.
    expect(await client.read(workflowId)).toBeUndefined();
    const { workflow } = await parts.temporal();
    for (let count = 0; count < 7; count += 1) await workflow.getHandle(workflowId).signal('tick');
    expect((await ended(token)).result).toEqual({ ticks: 7 });
    for (const one of clients)
      expect([one.name, (await ended(token, one)).result]).toEqual([one.name, { ticks: 7 }]);
    expect(await client.start('named', { goal: 7 }, key)).toBe(token);
    const again = await start('named', { goal: 7 });
    expect(again).not.toBe(token);
    // The same ID, but not the same operation.
    expect(await client.read(token)).toBeUndefined();
    await client.cancel(again);
    expect((await ended(again)).states).toEqual(['canceled']);
  });
});
