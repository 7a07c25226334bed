/** Tools over workflows of a worker without Longhaul, which has no idea of operations. */
import { randomUUID } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { protocolClients } from '../support/protocols/index.js';
import { JobsClient } from '../support/jobs.js';
import { TestStack } from '../support/test-stack.js';
import { declaring, QUEUE, TOOLS } from './odd-support.js';
import { OddStack, projectOf } from './support.js';

jest.setTimeout(PROCESSES_MS);

const stack = OddStack.ofFile(QUEUE, TOOLS);
const { begin: start, until, ended, shown, tick } = stack;

describe('values', () => {
  test('arguments reach the workflow in the order of the file; objects are made of inputs', async () => {
    const { result } = await ended(await start('echo', { first: 'a', wait_minutes: 3 }));
    expect(result).toEqual({ args: ['a', null, { wait: 3 }] });
  });

  test('a result that is no object becomes one', async () => {
    expect((await ended(await start('result', { kind: 'list' }))).result).toEqual({ result: [1, 2] });
  });

  test('a result that breaks the output of its start is a failure at every read, whatever the tool declares later', async () => {
    const [broken, fitting] = await Promise.all([
      start('declared', { kind: 'list' }),
      start('declared', { kind: 'texts' }),
    ]);
    const later = await TestStack.serverOnSharedWorker({
      LONGHAUL_PROJECT: projectOf({
        'declared.yaml': declaring('{ type: array, items: { type: integer } }'),
      }),
    });
    const clients = [...stack.clients, ...protocolClients(later.base)];
    try {
      for (const client of clients) {
        const { states, raw } = await ended(broken, client);
        expect([client.name, states]).toEqual([client.name, expect.arrayContaining(['failed'])]);
        expect(JSON.stringify(raw)).toContain('result.result[0]: expected string; got 1');
        expect([client.name, (await ended(fitting, client)).states]).toEqual([client.name, ['completed']]);
      }
      const jobs = new JobsClient(later.base);
      const { error, partial } = (await jobs.get(`/v1/jobs/${broken}`)).body;
      expect([error.kind, partial.result.name]).toEqual(['invalid_output', 'result.json']);
      const kept = await jobs.get(`/v1/jobs/${broken}/artifacts/result.json`);
      expect(kept.body).toEqual({ result: [1, 2] });
    } finally {
      await Promise.all(clients.slice(stack.clients.length).map(async (client) => client.close?.()));
      await later.stop();
    }
  });

  test('a failure has its message', async () => {
    const token = await start('fails', { message: 'the printer is on fire' });
    const { states } = await ended(token);
    expect(states).toEqual(['failed']);
    expect(await shown(token)).toContain('the printer is on fire');
    expect(((await stack.client.read(token))!.raw as any).error).toMatchObject({
      kind: 'failed',
      retryable: true,
    });
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
    expect((await stack.client.read(token))!.progress).toMatchObject({ progress: 2, total: 4 });
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
    await stack.client.cancel(mapped);
    expect((await ended(mapped)).states).toEqual(['canceled']);
    expect((await ended(unmapped)).result).toEqual({ rows: 20 });
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
      expect(await stack.client.answer(token, key, given)).not.toBe('queued');
    }
    expect((await ended(token)).result).toEqual({ answers: ['yes (fine)', 'no', 'no (declined)'] });
    expect(new Set(keys).size).toBe(3);
  });

  test('several questions at once keep their keys while others are answered, by a signal', async () => {
    const token = await start('reviews', { names: ['a', 'b', 'c'] });
    await until('it asks', token, ({ questions }) => questions.length === 3);
    for (const id of ['b', 'a', 'c']) {
      await stack.client.answer(token, id, { id, verdict: 'good' });
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
    const older = stack.clients.find(({ name }) => name.includes('2025-11-25 tasks'))!;
    const tokens = stack.clients.filter(({ name }) => /1391/i.test(name));
    await stack.client.cancel(token);
    await until(
      'the older revision says so at once',
      token,
      ({ states }) => states.includes('canceled') || states.includes('canceling'),
      older,
    );
    expect((await ended(token)).states).toEqual(['completed']);
    expect((await ended(token)).result).toEqual({ saved: true });
    for (const one of [older, ...tokens]) expect((await ended(token, one)).states).toContain('canceled');
    for (const one of stack.clients.filter((other) => other !== older && !tokens.includes(other)))
      expect([one.name, (await ended(token, one)).states]).toEqual([one.name, ['completed']]);
  });

  test('a signal instead of the request is sent once, and shows as a cancel', async () => {
    const token = await start('stops');
    await until('it runs', token, ({ states }) => !states.includes('submitted'));
    await stack.client.cancel(token);
    await stack.client.cancel(token);
    await until('it is being cancelled', token, ({ raw }) => JSON.stringify(raw).includes('being cancelled'));
    expect((await ended(token)).result).toEqual({ stopped: ['asked to'] });
  });
});

test('workflow IDs of the author: the ID is used, the token is sealed, and an ID in use is refused; later it is free again', async () => {
  const key = randomUUID();
  const token = await stack.client.start('named', { goal: 7 }, key);
  expect(token).toMatch(/^run\./);
  expect(await stack.client.start('named', { goal: 7 }, key)).toBe(token);
  const workflowId = `order-${QUEUE}-7`;
  await expect(start('named', { goal: 7 })).rejects.toThrow(`a workflow with the ID "${workflowId}" is open`);
  // Its own workflow ID is no token.
  expect(await stack.client.read(workflowId)).toBeUndefined();
  const { workflow } = await stack.parts.temporal();
  for (let count = 0; count < 7; count += 1) await workflow.getHandle(workflowId).signal('tick');
  expect((await ended(token)).result).toEqual({ ticks: 7 });
  for (const one of stack.clients)
    expect([one.name, (await ended(token, one)).result]).toEqual([one.name, { ticks: 7 }]);
  expect(await stack.client.start('named', { goal: 7 }, key)).toBe(token);
  const again = await start('named', { goal: 7 });
  expect(again).not.toBe(token);
  // The same ID, but not the same operation.
  expect(await stack.client.read(token)).toBeUndefined();
  await stack.client.cancel(again);
  expect((await ended(again)).states).toEqual(['canceled']);
});
