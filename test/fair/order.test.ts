/** Options of queues, the order of turns, and priorities, without Temporal. */
import { describe, expect, test } from '@jest/globals';
import { priorityOf } from '../../engine/start/index.js';
import { retryAfterSeconds, waitingMessage } from '../../operations/wire/queue-messages.js';
import { QUEUE_FULL, type TurnRequest } from '../../operations/wire/queue-wire.js';
import { jsonBytes } from '../../operations/wire/state.js';
import { completeQueue, queueConflict, type QueueOptions } from '../../operations/tool/queue.js';
import { defineTool } from '../../operations/tool/index.js';
import { formatProblem, parsePipeline } from '../../pipelines/parse.js';
import { pipelineTool } from '../../pipelines/tool.js';
import { emptyQueue, Turns } from '../../workflows/queue/turns.js';

const toolWith = (options: object) =>
  defineTool({
    name: 'render',
    description: { does: 'Renders.' },
    input: { type: 'object', properties: {} },
    estimate: { seconds: 1 },
    ...options,
  });

describe('defineTool', () => {
  test('completes a queue', () => {
    expect(toolWith({}).queue).toBeUndefined();
    expect(toolWith({ queue: { concurrency: 4, perCaller: 2 } }).queue).toEqual({
      name: 'render',
      concurrency: 4,
      perCaller: 2,
      maxWaiting: 10_000,
      waitSeconds: 86_400,
    });
    expect(toolWith({ priority: 1 }).priority).toBe(1);
  });

  test.each<[string, object]>([
    ['priority: expected a whole number from 1 to 5; got 0', { priority: 0 }],
    ['queue.concurrency: expected a whole number from 1 to 1000; got nothing', { queue: {} }],
    ['queue.perCaller: expected at most concurrency, 2; got 3', { queue: { concurrency: 2, perCaller: 3 } }],
    [
      'queue.maxWaiting: expected a whole number from 0 to 10000; got -1',
      { queue: { concurrency: 2, maxWaiting: -1 } },
    ],
    [
      'queue.waitSeconds: expected seconds above 0, at most 2592000; got 0',
      { queue: { concurrency: 2, waitSeconds: 0 } },
    ],
    [
      'queue.name: expected a letter or _, then letters, digits, _ or -, at most 64 characters; got "a b"',
      { queue: { concurrency: 2, name: 'a b' } },
    ],
    ['queue.percaller: unknown option', { queue: { concurrency: 2, percaller: 1 } }],
  ])('%s', (message, options) => {
    expect(() => toolWith(options)).toThrow(`tool "render": ${message}`);
  });

  test('the documentation has the limits', () => {
    const own = completeQueue('render', { concurrency: 2 });
    const other = { name: 'paint', queue: completeQueue('paint', { name: 'render', concurrency: 3 }) };
    expect(queueConflict(own, other)).toBe(
      'queue "render": expected the limits that tool "paint" declares for it (concurrency 3); got concurrency 2',
    );
    expect(queueConflict(own, { name: 'paint', queue: completeQueue('paint', { concurrency: 3 }) })).toBe(
      undefined,
    );
  });
});

describe('pipelines', () => {
  const parse = (keys: string) =>
    parsePipeline(`${keys}\njobs: { a: { steps: [{ run: 'true' }] } }`, 'p.yml');

  test('have a queue and a priority', () => {
    const { value: pipeline } = parse(
      'priority: 2\nqueue: { name: gpu, concurrency: 2, per-caller: 1, max-waiting: 5, wait-minutes: 1.5 }',
    );
    const { priority, queue } = pipelineTool(pipeline!);
    expect(priority).toBe(2);
    expect(queue).toEqual({ name: 'gpu', concurrency: 2, perCaller: 1, maxWaiting: 5, waitSeconds: 90 });
    expect(pipelineTool(parse('').value!).queue).toBeUndefined();
  });

  test.each([
    ['queue: 2', 'queue: expected a map such as `{ concurrency: 2 }`; got 2'],
    ['queue: { concurrency: 2, perCaller: 1 }', 'queue.perCaller: unknown key; did you mean "per-caller"?'],
    ['queue: { concurrency: 2, wait-minutes: 0 }', 'queue.wait-minutes: expected minutes above 0; got 0'],
    ['queue: { concurrency: 1, per-caller: 2 }', 'queue.per-caller: expected at most concurrency, 1; got 2'],
  ])('%s', (keys, message) => {
    const { value: pipeline, problems } = parse(keys);
    expect(pipeline).toBeUndefined();
    expect(problems.map(formatProblem).join('\n')).toContain(message);
  });
});

describe('turns', () => {
  const queueOf = (options: Partial<QueueOptions> = {}) =>
    completeQueue('render', { concurrency: 2, ...options });
  const request = (id: string, options?: Partial<QueueOptions>, priority?: number): TurnRequest => ({
    id,
    principal: id.replace(/\d+$/, ''),
    createdAtMs: 0,
    ...(priority === undefined ? {} : { priority }),
    queue: queueOf(options),
  });
  const turnsWith = (requests: TurnRequest[]) => {
    const turns = new Turns('render', emptyQueue());
    for (const one of requests) turns.ask(one, 0);
    return turns;
  };
  const running = (turns: Turns) => turns.state.running.map(({ id }) => id);

  test('are first come, first served', () => {
    const turns = turnsWith(['a1', 'a2', 'a3', 'b1', 'a4'].map((id) => request(id)));
    expect(running(turns)).toEqual(['a1', 'a2']);
    expect(turns.places()).toEqual({ order: ['a3', 'b1', 'a4'] });
    turns.remove('a1');
    turns.remove('a2');
    expect(running(turns)).toEqual(['a3', 'b1']);
  });

  test('have places that say how many are ahead, as far as the memo of the queue names them', () => {
    const ids = Array.from({ length: 500 }, (_, at) => `operation-${1_000 + at}`);
    const places = turnsWith(ids.map((id) => request(id))).places();
    expect(jsonBytes(places)).toBeLessThan(2 * 1_024 + 100);
    expect(waitingMessage(places, ids[2]!)).toBe('waiting for its turn: it is next');
    expect(waitingMessage(places, ids[9]!)).toBe('waiting for its turn: 7 before it');
    expect(waitingMessage(places, ids[499]!)).toBe(
      `waiting for its turn: ${places.order.length} or more before it`,
    );
    expect(waitingMessage(undefined, ids[2]!)).toBe('waiting for its turn');
  });

  test('are answered once each, and again to one that asks again', () => {
    const turns = turnsWith([request('a1'), request('a2'), request('a3')]);
    expect(turns.takeNotices().map(({ id }) => id)).toEqual(['a1', 'a2']);
    turns.ask(request('a1'), 0);
    turns.ask(request('a3'), 0);
    expect(turns.takeNotices()).toEqual([{ id: 'a1', notice: { isGranted: true } }]);
    expect(turns.state.waiting).toHaveLength(1);
    turns.remove('a3');
    turns.remove('unknown');
    expect(turns.hasNotices).toBe(false);
  });

  test('are in the order of starts, also if requests overtake each other', () => {
    const turns = turnsWith([request('a1'), request('a2')]);
    for (const at of [5, 3, 4]) turns.ask({ ...request(`a${at}`), createdAtMs: at }, 0);
    expect(turns.places().order).toEqual(['a3', 'a4', 'a5']);
  });

  test('keep to the limit of a caller', () => {
    const turns = turnsWith(
      ['a1', 'a2', 'a3', 'b1'].map((id) => request(id, { concurrency: 3, perCaller: 1 })),
    );
    expect(running(turns)).toEqual(['a1', 'b1']);
    turns.ask(request('c1', { concurrency: 3, perCaller: 1 }), 0);
    expect(running(turns)).toEqual(['a1', 'b1', 'c1']);
    turns.remove('a1');
    expect(running(turns)).toEqual(['b1', 'c1', 'a2']);
  });

  test('are by priority first', () => {
    const turns = turnsWith([request('a1'), request('a2')]);
    turns.ask(request('b1', {}, 4), 0);
    turns.ask(request('b2'), 0);
    turns.ask(request('a3', {}, 1), 0);
    expect(turns.places().order).toEqual(['a3', 'b2', 'b1']);
  });

  test('are refused beyond the number that may wait, and after the time to wait', () => {
    const options = { maxWaiting: 1, waitSeconds: 60 };
    const turns = turnsWith(['a1', 'a2', 'a3', 'a4'].map((id) => request(id, options)));
    expect(turns.state.waiting.map(({ id }) => id)).toEqual(['a3']);
    expect(turns.takeNotices().at(-1)).toEqual({
      id: 'a4',
      notice: {
        isGranted: false,
        type: QUEUE_FULL,
        message: 'the queue render is full: 2 running, 1 waiting',
      },
    });
    expect(turns.refusal('a', queueOf(options))).toEqual({ running: 2, waiting: 1, isCallerFull: false });
    // One caller can't keep others from waiting.
    expect(turns.refusal('b', queueOf(options))).toBeNull();
    expect(turns.refusal('b', queueOf({ ...options, maxWaiting: 0 }))).not.toBeNull();
    expect(turns.refusal('a', queueOf({ ...options, concurrency: 4 }))).toBeNull();
    turns.expire(59_999);
    expect(turns.hasNotices).toBe(false);
    turns.expire(60_000);
    expect(turns.takeNotices()).toMatchObject([
      { id: 'a3', notice: { isGranted: false, type: 'QueueTimeout' } },
    ]);
    expect(turns.refusal('a', queueOf(options))).toBeNull();
  });

  test('follow limits that the author has changed', () => {
    const turns = turnsWith(['a1', 'a2', 'a3', 'a4'].map((id) => request(id)));
    turns.ask(request('a5', { concurrency: 4 }), 0);
    expect(running(turns)).toEqual(['a1', 'a2', 'a3', 'a4']);
    turns.ask(request('a6', { concurrency: 1 }), 0);
    for (const id of ['a1', 'a2', 'a3']) turns.remove(id);
    expect(running(turns)).toEqual(['a4']);
  });
});

test('priorities: the caller is the fairness key, shortened if it is long', () => {
  expect(priorityOf({ principal: 'anonymous' })).toBeUndefined();
  expect(priorityOf({ principal: 'anonymous', priority: 1 })).toEqual({ priorityKey: 1 });
  expect(priorityOf({ principal: 'acme/alice' })).toEqual({ fairnessKey: 'acme/alice' });
  const long = priorityOf({ principal: `acme/${'a'.repeat(100)}`, priority: 5 });
  expect(long).toEqual({ priorityKey: 5, fairnessKey: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('a refused call is worth another try once one of those that run may have ended', () => {
  const queue = completeQueue('render', { concurrency: 4 });
  expect(retryAfterSeconds(queue, 120)).toBe(30);
  expect(retryAfterSeconds(queue, 1)).toBe(5);
  expect(retryAfterSeconds(queue, 1e6)).toBe(3_600);
});
