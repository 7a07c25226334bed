import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { formOn, FORMS, LegacyClient, RELATED_TASK, secondServer, VERSIONS } from './wire.js';

/** Every MUST for receivers (specs: 2025-11-25 basic/utilities/tasks). */
const parts = await forAllTests(TestStack.shared());
const client = await inSetUp(LegacyClient.open(parts.client.url, '2025-11-25', FORMS));
const open = (version?: string, capabilities?: object) =>
  LegacyClient.open(parts.client.url, version, capabilities);
const result = async (taskId: string, who = client) => who.request('tasks/result', { taskId });
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe('a call as a task', () => {
  test('gives a task at once, which begins working, and no result', async () => {
    const answer = await client.call('slow_compute', { seconds: 1 }, { task: { ttl: 60_000 } });
    const { task, ...rest } = answer.result;
    expect(rest).not.toHaveProperty('content');
    expect(task).toMatchObject({ status: 'working', ttl: null, pollInterval: expect.any(Number) });
    expect(typeof task.taskId).toBe('string');
    expect(task.createdAt).toMatch(ISO);
    expect(task.lastUpdatedAt).toMatch(ISO);
    expect(answer.result._meta[RELATED_TASK]).toEqual({ taskId: task.taskId });
    const done = await client.until(task.taskId, 'completed');
    expect(done.createdAt).toBe(task.createdAt);
    // The requested ttl counts from the end of the work: it never ends running work.
    expect(done.ttl).toBeGreaterThanOrEqual(60_000);
    expect(done.ttl).toBeLessThan(24 * 3600 * 1000);
    expect(done).not.toHaveProperty('_meta');
  });

  test('has task IDs that are all different, unless it is the same call again', async () => {
    const first = await client.task('slow_compute', { seconds: 0 });
    const second = await client.task('slow_compute', { seconds: 0 });
    expect(first.taskId).not.toBe(second.taskId);
    const args = { seconds: 0, idempotency_key: `k-${first.taskId}` };
    expect((await client.task('slow_compute', args)).taskId).toBe(
      (await client.task('slow_compute', args)).taskId,
    );
  });

  test('of a tool that cannot be one is -32601, and so is one that must be and is not', async () => {
    for (const name of ['greet', 'operation_list'])
      expect((await client.call(name, { name: 'x' }, { task: {} })).error.code).toBe(-32601);
    expect((await client.call('failing_job')).error.code).toBe(-32601);
  });

  test('with bad arguments, or a task field of another form, is -32602, and nothing starts', async () => {
    for (const [args, task] of [
      [{ seconds: 'many' }, {}],
      [{ seconds: 1, idempotency_key: '' }, {}],
      [{ seconds: 1 }, { ttl: 'long' }],
      [{ seconds: 1 }, { ttl: -5 }],
      [{ seconds: 1 }, 'yes'],
    ] as const) {
      const { error } = await client.call('slow_compute', args, { task });
      expect(error).toMatchObject({ code: -32602 });
    }
  });

  test.each(VERSIONS.slice(1))('is not supported in %s: the field is ignored', async (version) => {
    const older = await open(version);
    const answer = await older.call('slow_compute', { seconds: 0, wait: true }, { task: { ttl: 1 } });
    expect(answer.result.structuredContent.status).toBe('completed');
    const plain = await older.call('failing_job', { wait: true }, { task: {} });
    expect(plain.result).toMatchObject({ isError: true, structuredContent: { status: 'failed' } });
    expect((await older.request('tasks/get', { taskId: 'x' })).error.code).toBe(-32601);
  });
});

describe('tasks/result', () => {
  test('blocks until the end, and gives what the plain call gives', async () => {
    const task = await client.task('slow_compute', { seconds: 2, label: 'x' });
    const blocked = await result(task.taskId);
    expect(blocked.result._meta[RELATED_TASK]).toEqual({ taskId: task.taskId });
    expect(blocked.result.structuredContent).toMatchObject({ status: 'completed', result: { label: 'x' } });
    expect(blocked.result).not.toHaveProperty('isError');
    expect((await result(task.taskId)).result).toEqual(blocked.result);
    const plain = await client.call('operation_get', { token: task.taskId });
    expect(blocked.result.structuredContent).toEqual(plain.result.structuredContent);
  });

  test('of work that failed is a result with isError, and the task reads failed', async () => {
    const { taskId } = await client.task('failing_job');
    const failed = await client.until(taskId, 'failed');
    expect(failed.statusMessage).toContain('exploded');
    const { result: call } = await result(taskId);
    expect(call).toMatchObject({ isError: true, structuredContent: { status: 'failed' } });
    expect(call._meta[RELATED_TASK]).toEqual({ taskId });
    expect(call.content[0].text).toContain('first half');
  });

  test('of work that ended with an error of the protocol is that error', async () => {
    const { taskId } = await client.task('protocol_error_job');
    await client.until(taskId, 'failed');
    expect((await result(taskId)).error).toMatchObject({
      code: -32603,
      message: 'the upstream rate limit was exceeded',
    });
  });

  test('sends questions on its stream, with the related task, and continues after the answer', async () => {
    const { taskId } = await client.task('confirm_delete', { filename: 'a.txt' });
    const asking = await client.until(taskId, 'input_required');
    expect(asking.statusMessage).toContain('Delete a.txt?');
    const stream = await client.stream(client.message('tasks/result', { taskId }));
    const asked = await formOn(stream);
    expect(asked.params._meta[RELATED_TASK]).toEqual({ taskId });
    await client.respond(asked.id, { action: 'accept', content: { confirm: true } });
    await stream.ended;
    expect(stream.messages().at(-1).result.structuredContent.result.answer).toBe('accept');
    expect(await client.until(taskId, 'completed')).toHaveProperty('ttl');
  });

  test('of a client without elicitation waits; the task says how to answer', async () => {
    const mute = await open();
    const { taskId } = await mute.task('confirm_delete', { filename: 'b.txt' });
    const waiting = await mute.until(taskId, (task) => task.statusMessage?.includes('operation_answer'));
    expect(waiting.status).toBe('working');
    const stream = await mute.stream(mute.message('tasks/result', { taskId }));
    const { structuredContent } = (await mute.call('operation_get', { token: taskId })).result;
    await mute.call('operation_answer', { ...structuredContent.next_action.args, action: 'decline' });
    await stream.ended;
    expect(stream.messages()).toHaveLength(1);
    expect(stream.messages()[0].result.structuredContent.result.answer).toBe('decline');
  });

  test('ignores related-task metadata in favour of its taskId', async () => {
    const { taskId } = await client.task('slow_compute', { seconds: 0 });
    for (const method of ['tasks/get', 'tasks/result'])
      expect(
        (await client.request(method, { taskId, _meta: { [RELATED_TASK]: { taskId: 'other' } } })).result,
      ).toBeDefined();
  });
});

test('tasks/cancel answers once the task is cancelled, for good; its result has what was finished', async () => {
  const { taskId } = await client.task('slow_compute', { seconds: 600 });
  await client.until(taskId, 'working');
  const blocked = result(taskId);
  const { result: cancelled } = await client.request('tasks/cancel', { taskId });
  expect(cancelled).toMatchObject({ taskId, status: 'cancelled', createdAt: expect.stringMatching(ISO) });
  expect(cancelled).not.toHaveProperty('_meta');
  expect((await client.request('tasks/get', { taskId })).result.status).toBe('cancelled');
  expect((await blocked).result).toMatchObject({
    isError: true,
    structuredContent: { status: 'cancelled' },
    _meta: { [RELATED_TASK]: { taskId } },
  });
  expect((await client.request('tasks/cancel', { taskId })).error.code).toBe(-32602);
  expect((await client.request('tasks/get', { taskId })).result.status).toBe('cancelled');
});

test('tasks/cancel that races the end leaves one state for good', async () => {
  const { taskId } = await client.task('slow_compute', { seconds: 0 });
  const { result: cancelled, error } = await client.request('tasks/cancel', { taskId });
  if (error) expect(error.code).toBe(-32602);
  const wanted = error ? 'completed' : 'cancelled';
  if (cancelled) expect(cancelled.status).toBe('cancelled');
  await client.until(taskId, wanted);
  const { result: call } = await result(taskId);
  expect(call.structuredContent.status).toBe(wanted);
  expect((await client.request('tasks/get', { taskId })).result.status).toBe(wanted);
});

test('unknown and missing task IDs are -32602', async () => {
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
    for (const params of [{ taskId: 'nonesuch' }, { taskId: '' }, { taskId: 5 }, {}])
      expect((await client.request(method, params)).error).toMatchObject({ code: -32602 });
});

test('there is no list for callers that cannot be distinguished', async () => {
  expect((await client.request('tasks/list')).error.code).toBe(-32601);
});

describe("a session's own stream", () => {
  const of = (stream: { messages(): any[] }, method: string, taskId?: string) =>
    stream
      .messages()
      .filter((message) => message.method === method && (!taskId || message.params.taskId === taskId))
      .map(({ params }) => params);
  const STATUS = 'notifications/tasks/status';

  test('notifies of its tasks from start to end, with the requested progress', async () => {
    const mine = await open('2025-11-25', FORMS);
    const stream = await mine.listen();
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    const { taskId } = await mine.task(
      'slow_compute',
      { seconds: 5 },
      {},
      { _meta: { progressToken: 'p9' } },
    );
    await eventually('it has ended', () => of(stream, STATUS, taskId).at(-1)?.status === 'completed');
    const notified = of(stream, STATUS, taskId);
    expect(notified[0].status).toBe('working');
    expect(notified.some(({ statusMessage }) => /^count primes/.test(statusMessage ?? ''))).toBe(true);
    for (const task of notified) expect(task).not.toHaveProperty('_meta');
    const progress = of(stream, 'notifications/progress');
    expect(progress.length).toBeGreaterThan(0);
    for (const { progressToken } of progress) expect(progressToken).toBe('p9');
    const amounts = progress.map((one) => one.progress);
    expect(amounts).toEqual([...new Set(amounts)].sort((a, b) => a - b));
    expect(stream.messages().at(-1).method).toBe(STATUS);
    stream.close();
  });

  test('notifies of tasks that were started on another server, with the progress requested there', async () => {
    const mine = await open();
    const stream = await mine.listen();
    const { url, part } = await secondServer(parts);
    const elsewhere = new LegacyClient(url);
    elsewhere.session = mine.session;
    const { taskId } = await elsewhere.task(
      'slow_compute',
      { seconds: 12 },
      {},
      { _meta: { progressToken: 'elsewhere' } },
    );
    await eventually('it has ended', () => of(stream, STATUS, taskId).at(-1)?.status === 'completed');
    expect(of(stream, 'notifications/progress').map(({ progressToken }) => progressToken)).toContain(
      'elsewhere',
    );
    stream.close();
    await part.end();
  });

  test('brings the questions of a task for whose result nobody waits, and each only once', async () => {
    const mine = await open('2025-11-25', FORMS);
    const stream = await mine.listen();
    const { taskId } = await mine.task('confirm_delete', { filename: 'c.txt' });
    const asked = await formOn(stream);
    expect(asked.params._meta[RELATED_TASK]).toEqual({ taskId });
    const waiting = await mine.stream(mine.message('tasks/result', { taskId }));
    await eventually('it waits', () => waiting.events.length > 1);
    await mine.respond(asked.id, { action: 'accept', content: { confirm: true } });
    await waiting.ended;
    expect(waiting.messages()).toMatchObject([
      { result: { structuredContent: { result: { answer: 'accept' } } } },
    ]);
    stream.close();
  });

  test('does not notify of operations that are not tasks', async () => {
    const mine = await open('2025-11-25', FORMS);
    const stream = await mine.listen();
    const plain = await mine.call('confirm_delete', { filename: 'd.txt' });
    const { token } = plain.result.structuredContent;
    const { taskId } = await mine.task('slow_compute', { seconds: 4 });
    await eventually('the task has ended', () => of(stream, STATUS, taskId).at(-1)?.status === 'completed');
    expect(of(stream, STATUS, token)).toEqual([]);
    expect(of(stream, 'elicitation/create')).toEqual([]);
    await mine.call('operation_cancel', { token });
    stream.close();
  });

  test('does not notify of the tasks of others, and ends when the session opens another', async () => {
    const [mine, other] = [await open(), await open()];
    const stream = await mine.listen();
    const foreign = await other.task('slow_compute', { seconds: 0 });
    await client.until(foreign.taskId, 'completed');
    const own = await mine.task('slow_compute', { seconds: 0 });
    await eventually('own is notified', () => of(stream, STATUS, own.taskId).length > 0);
    expect(of(stream, STATUS, foreign.taskId)).toEqual([]);
    const second = await mine.listen();
    await stream.ended;
    second.close();
  });
});
