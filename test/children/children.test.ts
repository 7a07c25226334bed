/** Child workflows of an operation are its parts: what authors call in them works as in the operation's own workflow. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { STATE_MEMO, type StateMemo } from '../../operations/wire/state.js';
import { run } from '../cli/commands.js';
import { Caller, textOf } from '../operation-tools/support.js';
import { linesOf } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { OUTAGE_MS, PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(OUTAGE_MS);
const folder = mkdtempSync(join(tmpdir(), 'longhaul-children-'));

let parts: TestStack;
let caller: Caller;
beforeAll(async () => {
  // Own stack: its worker is killed.
  parts = await TestStack.start({ LONGHAUL_PROJECT: resolve('test/children/project') });
  caller = new Caller(parts.client);
}, PROCESSES_MS);
afterAll(async () => {
  await parts?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A file that isn't there yet: its content ends an activity. */
const newGate = () => join(folder, randomUUID());

const start = (...args: object[]): Promise<string> => caller.start('survey', { parts: args });

/** The operation, once it is as expected. */
const until = (token: string, what: string, isSo: (now: any) => boolean) =>
  eventually(what, async () => {
    const now = await caller.get('operation_get', { token, view: 'full' });
    return isSo(now) ? now : undefined;
  });

const handleOf = async (token: string, name: string) =>
  (await parts.temporal()).workflow.getHandle(`${token}.${name}`);

describe('progress', () => {
  test('of all parts adds up, and stays as they complete', async () => {
    const gates = [newGate(), newGate()];
    const token = await start(
      { name: 'north', gate: gates[0] },
      { name: 'south', inner: 'coast', gate: gates[1] },
    );
    const half = await until(token, 'both have reported', ({ progress }) => progress?.progress === 20);
    expect(half.progress).toMatchObject({ progress: 20, total: 40 });
    expect(half.progress.message).toMatch(/is half done$/);
    writeFileSync(gates[0]!, 'done');
    const more = await until(token, 'one has completed', ({ progress }) => progress.progress !== 20);
    expect(more.progress).toMatchObject({ progress: 30, total: 40 });
    writeFileSync(gates[1]!, 'done');
    const end = await caller.settled(token);
    expect(end).toMatchObject({ status: 'completed', progress: { progress: 40 } });
    expect(end.result).toEqual({ done: ['north from 0', 'coast from 0'] });
  });

  test.each(['fail', 'terminated', 'canceled'])(
    'stays when a part ends as %s',
    async (how) => {
      const gate = newGate();
      const token = await caller.start('survey', {
        keepFailed: true,
        parts: [
          { name: 'north', gate },
          { name: 'south', gate: newGate() },
        ],
      });
      await until(token, 'both have reported', ({ progress }) => progress?.progress === 20);
      const handle = await handleOf(token, 'north');
      if (how === 'fail') writeFileSync(gate, 'fail');
      else if (how === 'terminated') await handle.terminate();
      else await handle.cancel();
      const after = await eventually('the parent has taken it', async () => {
        const seen = await caller.get('operation_get', { token, view: 'full' });
        expect(seen.progress.progress).toBeGreaterThanOrEqual(how === 'terminated' ? 10 : 20);
        return seen.children.some(({ name, status }: any) => name === 'south' && status === 'running') &&
          seen.children.every(({ name }: any) => name !== 'north')
          ? seen
          : undefined;
      });
      expect(after.progress.progress).toBe(20);
      await caller.get('operation_cancel', { token });
      await caller.settled(token);
    },
    PROCESSES_MS,
  );

  test('of a local activity counts as it ends', async () => {
    const token = await start({ name: 'east', local: true });
    expect(await caller.settled(token)).toMatchObject({
      status: 'completed',
      result: { done: ['east jotted'] },
      progress: { progress: 5 },
    });
  });
});

test('parts are shown on every protocol, with what they do, and never as operations', async () => {
  const [gate, other] = [newGate(), newGate()];
  const token = await start({ name: 'north', gate }, { name: 'south', inner: 'coast', gate: other });
  await until(token, 'both have reported', ({ progress }) => progress?.progress === 20);
  const plain = await caller.get('operation_get', { token, view: 'full' });
  expect(plain.children).toEqual([
    { name: 'north', status: 'running' },
    { name: 'south', status: 'running' },
    { name: 'south/coast', status: 'running' },
  ]);
  const steps = await caller.call('operation_get', { token, view: 'steps' });
  expect(steps.structuredContent.children).toMatchObject([
    { name: 'north', status_message: 'surveying north: 10 of 20, north is half done' },
    { name: 'south', status_message: 'surveying south: 10 of 20, coast is half done' },
    { name: 'south/coast', status_message: 'surveying coast: 10 of 20, coast is half done' },
  ]);
  expect(textOf(steps)).toContain('survey: 3 parts');
  const jobs = new JobsClient(parts.base);
  expect(await jobs.get(`/v1/jobs/${token}`)).toMatchObject({ body: { progress: { progress: 20 } } });
  const { operations } = await caller.get('operation_list', { limit: 100 });
  expect(operations.map((one: any) => one.token).filter((one: string) => one.startsWith(token))).toEqual([
    token,
  ]);
  for (const one of [`${token}.north`, `${token}.south.coast`])
    await caller.refused('operation_get', { token: one }, 'not_found', 'not found');

  const found: string[] = [];
  for await (const { workflowId } of (await parts.temporal()).workflow.list({
    query: `RootWorkflowId = "${token}"`,
  }))
    found.push(workflowId);
  expect(found.sort()).toEqual(['', '.north', '.south', '.south.coast'].map((suffix) => token + suffix));

  await parts.parts[1]!.end('SIGKILL');
  const alone = await caller.call('operation_get', { token, view: 'steps' });
  expect(alone.structuredContent.children).toMatchObject([
    { name: 'north', status: 'running' },
    { name: 'south', status: 'running' },
    { name: 'south/coast', status: 'running' },
  ]);
  parts.worker();
  for (const one of [gate, other]) writeFileSync(one, 'done');
  // The activities are tried again once the killed worker's heartbeat is missing.
  const hasCompleted = async () => (await caller.settled(token)).status === 'completed';
  await eventually('it is completed', hasCompleted, STACK_MS);
  const closed = await caller.get('operation_get', { token, view: 'steps' });
  expect(closed.children).toMatchObject([
    { name: 'north', status: 'completed' },
    { name: 'south', status: 'completed' },
  ]);
});

test('activities of parts are canceled, leave their artifacts with the operation, and are retried', async () => {
  const [done, again] = [newGate(), newGate()];
  writeFileSync(done, 'done');
  writeFileSync(again, 'again');
  const token = await start({ name: 'north', gate: done }, { name: 'south', inner: 'coast', gate: again });
  await until(token, 'the retry is announced', ({ status_message }) =>
    /^south\/coast: walk is being retried \(attempt \d+\): coast stumbled/.test(status_message),
  );
  const artifact = await new JobsClient(parts.base).get(`/v1/jobs/${token}/artifacts/north.txt`);
  expect(artifact).toMatchObject({ status: 200, body: 'north' });
  const { raw } = await (await handleOf(token, 'south.coast')).describe();
  expect(Number(raw.pendingActivities![0]!.attempt)).toBeGreaterThan(1);
  rmSync(again);
  await until(token, 'an attempt runs', ({ status_message }) => !/being retried/.test(status_message));

  await caller.get('operation_cancel', { token });
  expect(await caller.settled(token)).toMatchObject({ status: 'cancelled' });
  const coast = await handleOf(token, 'south.coast');
  await eventually('the part is canceled', async () => (await coast.describe()).status.name === 'CANCELLED');
  await eventually('its activity has heard of it', () => existsSync(`${again}.canceled`));
});

test('an attempt in a part continues from the last report of the attempt before', async () => {
  const gate = newGate();
  writeFileSync(gate, 'again');
  const token = await start({ name: 'north', gate });
  await until(token, 'it is tried again', ({ status_message }) => /attempt/.test(status_message ?? ''));
  writeFileSync(gate, 'done');
  expect((await caller.settled(token)).result).toEqual({ done: ['north from 10'] });
});

test('the key of a request is the same in every attempt and part, and belongs to the operation and the name', async () => {
  const gates = [newGate(), newGate(), newGate()];
  for (const gate of gates) writeFileSync(gate, 'again');
  const one = await start({ name: 'north', gate: gates[0] }, { name: 'south', gate: gates[1] });
  const other = await start({ name: 'north', gate: gates[2] });
  const keysOf = (gate: string) => linesOf(`${gate}.keys`).map((line) => line.split(' '));
  await eventually('all are tried again', () => gates.every((gate) => keysOf(gate).length > 1));
  const attempts = gates.map(keysOf);
  for (const token of [one, other]) await caller.get('operation_cancel', { token });
  for (const [first, ...others] of attempts) for (const again of others) expect(again).toEqual(first);
  const [north, south, elsewhere] = attempts.map(([first]) => first!);
  expect(north![0]).toMatch(/^[0-9a-f]{32}$/);
  expect(south![0]).toBe(north![0]);
  const distinct = new Set([...north!, ...south!, ...elsewhere!]);
  expect(distinct.size).toBe(5);
});

describe('questions of parts', () => {
  test('are questions of the operation, under keys that name the part', async () => {
    const token = await start({ name: 'north', asks: true }, { name: 'south', inner: 'coast', asks: true });
    const asked = await until(
      token,
      'both have asked',
      ({ input_required }) => Object.keys(input_required ?? {}).length === 2,
    );
    expect(asked.status).toBe('input_required');
    expect(Object.keys(asked.input_required).sort()).toEqual(['north/input-1', 'south/coast/input-1']);
    expect(asked.children).toEqual([
      { name: 'north', status: 'input_required' },
      { name: 'south', status: 'input_required' },
      { name: 'south/coast', status: 'input_required' },
    ]);
    await caller.refused(
      'operation_answer',
      { token, key: 'north/input-1', content: { sure: 'maybe' } },
      'invalid_answer',
      'content.sure',
    );
    await caller.get('operation_answer', { token, key: 'south/coast/input-1', content: { sure: true } });
    await until(token, 'one is left', ({ input_required }) => Object.keys(input_required ?? {}).length === 1);
    expect(await run(parts, ['answer', token, '--content', '{"sure":true}'])).toMatchObject({ code: 0 });
    expect((await caller.settled(token)).result).toEqual({ done: ['north: true', 'coast: true'] });
  });

  test('stop the clock while nothing else is awaited', async () => {
    const gate = newGate();
    const token = await start({ name: 'north', asks: true }, { name: 'south', gate });
    await until(token, 'it has asked', ({ status }) => status === 'input_required');
    writeFileSync(gate, 'done');
    await until(token, 'south has ended', ({ children }) =>
      children.every(({ name }: any) => name !== 'south'),
    );
    await caller.get('operation_answer', { token, key: 'north/input-1', content: { sure: false } });
    expect((await caller.settled(token)).status).toBe('completed');
    const { memo } = await (await parts.temporal()).workflow.getHandle(token).describe();
    expect((memo![STATE_MEMO] as StateMemo).awaitedMs).toBeGreaterThan(0);
  });

  test('are withdrawn when the part ends', async () => {
    const token = await caller.start('survey', {
      keepFailed: true,
      parts: [
        { name: 'north', asks: true },
        { name: 'south', gate: newGate() },
      ],
    });
    await until(token, 'it has asked', ({ status }) => status === 'input_required');
    await (await handleOf(token, 'north')).terminate();
    await until(token, 'nothing is asked', ({ status }) => status === 'running');
    await caller.get('operation_cancel', { token });
    await caller.settled(token);
  });
});

test('a part that has the workflow ID of an earlier one asks under keys of its own', async () => {
  const asks = { name: 'north', asks: true };
  const token = await caller.start('survey', { parts: [asks, asks], inTurn: true });
  const keyIn = ({ input_required }: any) => Object.keys(input_required ?? {})[0];
  const first = await until(token, 'it asks', (now) => keyIn(now) !== undefined);
  expect(keyIn(first)).toBe('north/input-1');
  const answer = { token, content: { sure: true } };
  await caller.get('operation_answer', { ...answer, key: 'north/input-1' });
  const second = await until(
    token,
    'it asks again',
    (now) => ![undefined, 'north/input-1'].includes(keyIn(now)),
  );
  const { answered } = await caller.get('operation_answer', { ...answer, key: keyIn(second) });
  const end = await caller.settled(token);
  expect(end.result).toEqual({ done: ['north: true', 'north: true'] });
  expect(end.answers.map(({ key, state }: any) => [key, state])).toEqual([
    ['north/input-1', 'applied'],
    [keyIn(second), 'applied'],
  ]);
  expect(end.answers[1].id).toBe(answered.id);
  expect(end.answers[0].id).not.toBe(answered.id);
});

test('an answer that reaches a part too late is refused in the record, which has what the part used', async () => {
  const gate = newGate();
  const token = await start({ name: 'north', asksForSeconds: 3, gate });
  const key = 'north/input-1';
  await until(token, 'it asks', ({ status }) => status === 'input_required');
  await parts.parts.find(({ process }) => process.spawnargs.includes('worker'))!.end('SIGKILL');
  const child = await handleOf(token, 'north');
  await eventually('the time to answer is over', async () =>
    (await child.fetchHistory()).events!.some((event) => event.timerFiredEventAttributes),
  );
  const { answered } = await caller.get('operation_answer', { token, key, content: { sure: true } });
  expect(answered.state).toBe('queued');
  const steps = await caller.get('operation_get', { token, view: 'steps' });
  expect(steps.children).toMatchObject([
    { name: 'north', status: 'running', status_message: expect.stringMatching(/^(answered|no worker)/) },
  ]);
  parts.worker();
  const now = await until(token, 'the outcome is known', ({ answers }) =>
    answers?.every(({ state }: any) => state !== 'queued'),
  );
  writeFileSync(gate, 'done');
  const { result, answers } = await caller.settled(token);
  const isTaken = result.done[0].endsWith(', sure');
  const outcome = answers.map(({ state, is_default, id }: any) => [state, is_default, id]);
  expect([now.status, ...outcome.sort()]).toEqual(
    isTaken
      ? ['running', ['applied', undefined, answered.id]]
      : ['running', ['applied', true, undefined], ['refused', undefined, answered.id]],
  );
});
