/** Answers that no worker takes for now: one of them counts, and everybody learns which, whatever else comes as a signal. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { run } from '../cli/commands.js';
import { Caller, textOf } from '../operation-tools/support.js';
import { eventually } from '../stack/cli-process.js';
import { afterAllTests } from '../support/for-all-tests.js';
import { type Answer } from '../support/jobs.js';
import { protocolClients, Refused } from '../support/protocols/index.js';
import { TestStack, type Part } from '../support/test-stack.js';

// Own stack: its worker is stopped and killed.
const parts = await TestStack.start();
afterAllTests(() => parts.stop('SIGKILL'));
let [, worker] = parts.parts as [Part, Part];
const { jobs } = parts;
afterEach(() => void worker.process.kill('SIGCONT'));

/** The worker keeps its connections, and the workflow task that Temporal gives it next. */
const stop = () => worker.process.kill('SIGSTOP');
const resume = () => worker.process.kill('SIGCONT');
const kill = () => worker.end('SIGKILL');
const restart = () => void (worker = parts.worker());

/** An operation that asks `input-1`: `{ confirm: boolean }`. */
async function asking(): Promise<string> {
  const token = await jobs.start('confirm_delete', { filename: 'a.txt' });
  await jobs.until(token, (job) => job.input_required);
  return token;
}

function answer(
  token: string,
  value: object,
  headers: Record<string, string> = {},
  key = 'input-1',
): Promise<Answer> {
  return jobs.post(`/v1/jobs/${token}/input`, { key, value }, headers);
}

const handleOf = async (token: string): Promise<WorkflowHandle> =>
  (await parts.temporal()).workflow.getHandle(token);

/** Answers to a closed operation's questions. */
async function outcome(token: string): Promise<{ result: any; answers: any[] }> {
  const { result, answers } = await jobs.until(token, (job) => job.closed_at !== undefined);
  return { result, answers };
}

function expectRefused({ status, body }: Answer): void {
  expect([status, body]).toEqual([
    409,
    expect.objectContaining({
      type: '/problems/wrong-state',
      detail: expect.stringMatching(/^the question "input-1" was already answered, at \d{4}-.*Z$/),
    }),
  ]);
}

const time = expect.stringMatching(/^\d{4}-.*Z$/);

/** Signals that are no answers to `input-1`. */
const FORGED = { key: 'input-1', answerId: 'forged' };
const MISFITS: unknown[][] = [
  [],
  [null],
  [FORGED],
  [{ ...FORGED, answer: { action: 'decline' }, by: null, signature: 'x' }],
  [{ ...FORGED, answer: { action: 'maybe' } }],
  [{ ...FORGED, answer: { action: 'accept', content: { confirm: 'x' } } }],
  [{ ...FORGED, key: 'input-2', answer: { action: 'decline' } }],
];

test('of two different answers the first counts while the worker is stopped, and the second is refused', async () => {
  const token = await asking();
  stop();
  const first = await answer(token, { confirm: true });
  expect([first.status, first.body]).toMatchObject([202, { state: 'queued', key: 'input-1' }]);
  expectRefused(await answer(token, { confirm: false }));
  resume();
  const { result, answers } = await outcome(token);
  expect(result).toEqual({ answer: 'accept', deleted: ['a.txt'] });
  const { id } = first.body;
  expect(answers).toEqual([{ key: 'input-1', id, action: 'accept', state: 'applied', at: time }]);
});

test('of answers that race over all protocols one counts, and the others are refused', async () => {
  const clients = protocolClients(parts.base);
  const args = { units: 0, questions: 1, areAtOnce: false, ends: 'completed', cleanupMs: 0 };
  const token = await jobs.start('steered', args);
  await jobs.until(token, (job) => job.input_required);
  await kill();
  const sent = await Promise.allSettled(
    clients.map((client, value) => client.answer(token, 'input-1', { value })),
  );
  restart();
  const { result, answers } = await outcome(token);
  const [winner] = result.answers;
  // The form of 2025-11-25 has no response.
  const states = sent.map((one) => (one.status === 'fulfilled' ? one.value : one.reason));
  states.forEach((state, value) => {
    if (state === 'queued') expect(value).toBe(winner);
    else if (state !== undefined) expect(state).toMatchObject({ name: 'Refused', kind: 'wrong_state' });
  });
  expect(states.filter((state) => state instanceof Refused).length).toBeGreaterThanOrEqual(7);
  expect(answers.filter(({ state }) => state === 'applied')).toHaveLength(1);
  expect(answers.filter(({ state }) => state === 'queued')).toEqual([]);
});

describe('while the worker is dead', () => {
  /** An operation for each test, and what its senders got. */
  const tokens = { twice: '', keyed: '', updated: '', misfits: '', terminated: '', operators: '' };
  const sent: Record<'twice' | 'keyed' | 'misfits', Answer> = {} as never;
  const operators = { key: 'input-1', answerId: randomUUID(), answer: { action: 'decline' } };
  let updated: object;
  const own = { 'idempotency-key': 'queued' };
  const signal = async (token: string, ...args: unknown[]) =>
    (await handleOf(token)).signal('provide_input', ...args);
  const update = async (confirm: boolean) => {
    const content = { confirm };
    const { result } = await parts.client.answer(tokens.updated, 'input-1', { action: 'accept', content });
    expect(result.resultType).toBe('complete');
    return result._meta['longhaul/answers'];
  };
  beforeAll(async () => {
    for (const name of Object.keys(tokens) as (keyof typeof tokens)[]) tokens[name] = await asking();
    await kill();
  });

  test('the same answer again gets the same response, and another one is refused', async () => {
    sent.twice = await answer(tokens.twice, { confirm: true });
    expect(sent.twice.status).toBe(202);
    const again = await answer(tokens.twice, { confirm: true });
    expect([again.status, again.body]).toEqual([202, sent.twice.body]);
    expectRefused(await answer(tokens.twice, { confirm: false }));
    const { events } = await (await handleOf(tokens.twice)).fetchHistory();
    expect(events!.filter((event) => event.workflowExecutionSignaledEventAttributes)).toHaveLength(1);
    sent.keyed = await answer(tokens.keyed, { confirm: true }, own);
    expect([sent.keyed.status, sent.keyed.body]).toMatchObject([
      202,
      { state: 'queued', job: { job_id: tokens.keyed } },
    ]);
  });

  test('tasks/update acknowledges every answer, with its outcome in _meta', async () => {
    [updated] = await update(true);
    expect(updated).toEqual({ key: 'input-1', id: expect.any(String), state: 'queued' });
    expect(await update(false)).toEqual([
      { key: 'input-1', state: 'refused', reason: expect.stringContaining('was already answered') },
    ]);
  });

  test('signals that do not fit block no answer', async () => {
    for (const args of MISFITS) await signal(tokens.misfits, ...args);
    sent.misfits = await answer(tokens.misfits, { confirm: true });
    expect(sent.misfits.status).toBe(202);
    expect(await jobs.job(tokens.misfits)).not.toHaveProperty('input_required');
  });

  test('an answer that an operation did not live to take is refused, with the reason', async () => {
    const token = tokens.terminated;
    const { body } = await answer(token, { confirm: true });
    await (await handleOf(token)).terminate('enough');
    const { answers } = await outcome(token);
    expect(answers).toEqual([
      {
        ...{ key: 'input-1', id: body.id, action: 'accept', state: 'refused', at: time },
        reason: 'the operation ended before a worker took the answer',
      },
    ]);
    const again = await answer(token, { confirm: true });
    expect([again.status, again.body.detail]).toEqual([409, 'the operation is failed']);
  });

  test('an operator may answer by a signal, and the next answer is refused', async () => {
    await signal(tokens.operators, operators);
    expect((await answer(tokens.operators, { confirm: true })).status).toBe(409);
  });

  test('once one is back, the acknowledged answers count, and the record has why others did not', async () => {
    restart();
    await outcome(tokens.twice);
    const after = await answer(tokens.twice, { confirm: true });
    expect([after.status, after.body]).toEqual([200, { ...sent.twice.body, state: 'accepted' }]);
    expect((await answer(tokens.twice, { confirm: false })).status).toBe(409);

    await outcome(tokens.keyed);
    const keyed = await answer(tokens.keyed, { confirm: true }, own);
    expect([keyed.status, keyed.body]).toEqual([202, sent.keyed.body]);

    await outcome(tokens.updated);
    expect(await update(true)).toEqual([{ ...updated, state: 'applied' }]);

    expect(await outcome(tokens.operators)).toMatchObject({
      result: { answer: 'decline', deleted: [] },
      answers: [{ id: operators.answerId, action: 'decline', state: 'applied' }],
    });

    const { result, answers } = await outcome(tokens.misfits);
    expect(result.deleted).toEqual(['a.txt']);
    const of = (state: string) => answers.filter((one) => one.state === state);
    expect(of('applied').map(({ id }) => id)).toEqual([sent.misfits.body.id]);
    expect(of('refused')).toMatchObject([
      { key: 'input-1', id: 'forged', reason: expect.stringContaining('content.confirm') },
      { key: 'input-2', id: 'forged', reason: 'there is no open input request "input-2"' },
    ]);
  });
});

test('the same answer again is recognized by an Idempotency-Key, under which another answer is refused', async () => {
  const token = await asking();
  const own = { 'idempotency-key': 'mine' };
  const first = await answer(token, { confirm: true }, own);
  expect(first.status).toBe(200);
  await outcome(token);
  const again = await answer(token, { confirm: true }, own);
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect((await answer(token, { confirm: false }, own)).status).toBe(409);
  // Somebody else's equal answer.
  expect((await answer(token, { confirm: true }, { 'idempotency-key': 'theirs' })).status).toBe(409);
  expect((await answer(token, { confirm: true }, { 'idempotency-key': 'ä' })).body).toMatchObject({
    type: '/problems/invalid-idempotency-key',
  });
});

test('while an answer is queued, no read asks for it, and each shows it', async () => {
  const token = await asking();
  const caller = new Caller(parts.client);
  const watched = await parts.client.listen({ taskIds: [token] });
  await kill();
  const key = 'input-1';
  const sent = await caller.call('operation_answer', { token, key, content: { confirm: true } });
  const { id, state } = sent.structuredContent.answered;
  expect(state).toBe('queued');
  expect(sent.structuredContent).toMatchObject({ status: 'running', next_action: { tool: 'operation_get' } });
  expect(textOf(sent)).toMatch(
    /^Answer to input-1 \(accept\) is queued until a worker is available\.\n\nrunning: <data>"answered, waiting for a worker/,
  );
  expect(textOf(sent)).not.toContain('operation_answer');
  const queued = { key, id, action: 'accept', state: 'queued', at: time };
  const statusMessage = expect.stringMatching(/^answered, waiting for a worker(; no worker .*)?$/);

  const task = await parts.client.get(token);
  expect(task).toMatchObject({ status: 'working', statusMessage });
  expect([task.inputRequests, task._meta['longhaul/answers']]).toEqual([undefined, [queued]]);
  const job = await jobs.job(token);
  expect([job.input_required, job.status_message, job.answers]).toEqual([undefined, statusMessage, [queued]]);
  const full = await caller.get('operation_get', { token, view: 'full' });
  expect([full.status, full.answers]).toEqual(['running', [queued]]);
  for (const client of protocolClients(parts.base))
    expect([client.name, (await client.read(token))?.questions]).toEqual([client.name, []]);
  await eventually('a subscriber hears of it', () =>
    watched.messages.some(({ params }) => params?._meta?.['longhaul/answers']?.[0]?.state === 'queued'),
  );
  watched.close();
  expect((await run(parts, ['status', token])).stdout).toMatch(
    /answered +input-1: accept \(queued until there is a worker\)\n/,
  );
  const late = await run(parts, ['answer', token, '--field', 'confirm=false']);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('no question is open')]);

  restart();
  expect((await outcome(token)).answers).toEqual([{ ...queued, state: 'applied' }]);
});

test('signals that do not fit block no answer while a worker takes them', async () => {
  const token = await asking();
  for (const args of MISFITS) await (await handleOf(token)).signal('provide_input', ...args);
  expect((await answer(token, { confirm: true })).status).toBe(200);
  expect((await outcome(token)).result.deleted).toEqual(['a.txt']);
});

test('refused answers do not displace answers that count', async () => {
  const args = { units: 0, questions: 2, areAtOnce: false, ends: 'completed', cleanupMs: 0 };
  const token = await jobs.start('steered', args);
  await jobs.until(token, (job) => job.input_required);
  await answer(token, { value: 1 });
  await jobs.until(token, (job) => job.input_required?.requests['input-2']);
  const handle = await handleOf(token);
  for (let number = 0; number < 25; number += 1)
    await handle.signal('provide_input', {
      key: 'input-1',
      answerId: `late-${number}`,
      answer: { action: 'decline' },
    });
  await answer(token, { value: 2 }, {}, 'input-2');
  const { answers } = await outcome(token);
  const of = (state: string) => answers.filter((one) => one.state === state);
  expect(of('applied').map(({ key }) => key)).toEqual(['input-1', 'input-2']);
  expect(of('refused')).toHaveLength(10);
  expect(of('refused').at(-1)).toMatchObject({
    id: 'late-24',
    reason: expect.stringContaining('has been answered'),
  });
});
