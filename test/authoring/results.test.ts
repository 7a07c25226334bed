/** Values that authors return, report and keep: JSON is delivered, and anything else is named. */
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { lossIn } from '../../operations/json/lossless.js';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS } from '../support/limits.js';
import { protocolClients, untilOver, type ProtocolClient } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';
import { LOST, WHOLE } from './project/given-values.js';

jest.setTimeout(PROCESSES_MS);
let parts: TestStack;
let jobs: JobsClient;
let clients: ProtocolClient[];
beforeAll(async () => {
  parts = await TestStack.start({
    LONGHAUL_PROJECT: resolve('test/authoring/project'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
  });
  jobs = new JobsClient(parts.base);
  clients = protocolClients(parts.base);
}, PROCESSES_MS);
afterAll(async () => {
  await Promise.all(clients?.map(async (client) => client.close?.()) ?? []);
  await parts?.stop();
});

const EVERYWHERE = ['workflow', 'activity', 'child'];
const ended = (id: string) => jobs.until(id, ({ closed_at: closedAt }) => closedAt);

async function logOf(id: string): Promise<string> {
  return (
    await fetch(`${parts.base}/v1/jobs/${id}/logs/operation`, { headers: { accept: 'text/plain' } })
  ).text();
}

/** The number of attempts that Temporal's history has of the operation's activities, and of failed workflow tasks. */
async function repeats(id: string): Promise<{ attempts: number[]; failedTasks: number }> {
  const { workflow } = await parts.temporal();
  const { events = [] } = await workflow.getHandle(id).fetchHistory();
  return {
    attempts: events!.flatMap(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? []),
    failedTasks: events!.filter(({ workflowTaskFailedEventAttributes: failed }) => failed).length,
  };
}

describe('a result', () => {
  test.each(Object.keys(WHOLE))(
    'that is JSON or nothing is delivered by every protocol: %s',
    async (kind) => {
      const value: unknown = JSON.parse(JSON.stringify(WHOLE[kind]!()) ?? 'null');
      const tokens = await Promise.all(EVERYWHERE.map((from) => jobs.start('give', { kind, from })));
      for (const token of tokens)
        expect(await ended(token)).toMatchObject({ status: 'succeeded', result: value });
      for (const client of clients) {
        const reading = await untilOver(client, tokens[0]!);
        expect([client.name, reading.states]).toEqual([client.name, ['completed']]);
        for (const { text } of textBlocksIn(reading.raw))
          expect([client.name, text]).toEqual([client.name, expect.stringMatching(/./)]);
      }
    },
  );

  test.each(Object.entries(LOST))(
    'that JSON would lose fails with its path, after one attempt: %s',
    async (kind, [, path, word]) => {
      const places = {
        workflow: 'result',
        child: 'result',
        activity: 'result of activity giveFromActivity',
        argument: 'argument 1 of activity takeInActivity',
        partial: 'partial()',
      };
      const started = Object.entries(places).map(async ([from, name]) => {
        const id = await jobs.start('give', { kind, from });
        const { status, error } = await ended(id);
        expect([from, status, error]).toMatchObject([from, 'failed', { type: 'NotJson', retryable: false }]);
        expect(error.message).toContain(`${name}${path}: expected a value that JSON can hold; got `);
        expect(error.message).toContain(word);
        expect(await repeats(id)).toEqual({ attempts: from === 'activity' ? [1] : [], failedTasks: 0 });
      });
      await Promise.all(started);
    },
  );

  test('that breaks the declared output fails on every protocol, with its value as an artifact', async () => {
    const result = { cups: 'three', at: 'noon' };
    const token = await jobs.start('brew_to_order', { result });
    const job = await ended(token);
    const uri = `longhaul://operations/${token}/artifacts/result.json`;
    expect(job).toMatchObject({
      status: 'failed',
      stage: 'cleaned up: failed',
      status_message: 'result.cups: expected number; got "three"',
      error: { kind: 'invalid_output', type: 'invalid_output', retryable: false },
      partial: { result: { name: 'result.json', uri } },
    });
    expect(job.error.message).toContain('result.at: expected ');
    expect((await jobs.get(`/v1/jobs/${token}/artifacts/result.json`)).body).toEqual(result);
    for (const client of clients) {
      const { states, raw } = await untilOver(client, token);
      expect([client.name, states]).toEqual([client.name, expect.arrayContaining(['failed'])]);
      expect(JSON.stringify(raw)).toContain('result.cups: expected number; got ');
    }
    const { workflow } = await parts.temporal();
    expect((await workflow.getHandle(token).describe()).status.name).toBe('FAILED');
    const read = await parts.client.request('resources/read', { uri });
    expect(JSON.parse(read.result.contents[0].text)).toEqual(result);
  });

  test.each([[null], ['nothing'], [[1]], [{}], ['done']])(
    'of another type breaks it too: %j',
    async (result) => {
      const job = await ended(await jobs.start('brew_to_order', { result }));
      expect(job).toMatchObject({ status: 'failed', error: { kind: 'invalid_output' } });
    },
  );

  test('is checked as the JSON that clients get, and shown as JSON if toText gives no text', async () => {
    const token = await jobs.start('brew_to_order', { result: 'a date' });
    const result = { cups: 1, at: '1970-01-01T00:00:00.000Z' };
    expect(await ended(token)).toMatchObject({ status: 'succeeded', result });
    const task = await parts.client.get(token);
    expect(task.result.structuredContent).toEqual(result);
    expect(JSON.parse(task.result.content[0].text)).toEqual(result);
  });

  test('is shown as JSON, and delivered by every protocol, if toText throws', async () => {
    const token = await jobs.start('brew_to_order', { result: { cups: 13 } });
    expect(await ended(token)).toMatchObject({ status: 'succeeded', result: { cups: 13 } });
    for (const client of clients) {
      const { states, raw } = await untilOver(client, token);
      expect([client.name, states]).toEqual([client.name, ['completed']]);
      expect(JSON.stringify(raw)).not.toContain('no thirteen');
    }
    const { result } = await parts.client.get(token);
    expect(JSON.parse(result.content[0].text)).toEqual({ cups: 13 });
  });

  test('too large for the runtime to check breaks the declared output at each read', async () => {
    const token = await jobs.start('brew_to_order', { result: 'large' });
    const job = await ended(token);
    expect(job).toMatchObject({
      status: 'failed',
      error: {
        kind: 'invalid_output',
        message: expect.stringMatching(/^result\.cups: expected number; got "xxx/),
      },
    });
    expect(await parts.client.get(token)).toMatchObject({ status: 'completed', result: { isError: true } });
    expect((await jobs.get(`/v1/jobs/${token}/artifacts/result.json`)).body).toMatchObject({
      cups: expect.stringMatching(/^x+$/),
    });
  });
});

describe('a mistake', () => {
  test('in a report never fails the work: it is in the log, and the record stays sound', async () => {
    const id = await jobs.start('mistaken', { mistake: 'reports' });
    const { status, stage, progress } = await ended(id);
    expect([status, progress]).toEqual(['succeeded', { progress: 1, message: '7' }]);
    expect(Buffer.byteLength(stage)).toBeLessThanOrEqual(400);
    const log = await logOf(id);
    for (const line of [
      'progress(): progress: expected a number from 0; got NaN',
      'progress(): total: expected a number from 0; got -3',
      'progress(): expected { progress, total, message }; got 50',
      'progress(): message: expected text; got 7',
      'stage(): expected text; got 3',
      'workSize(): expected a number from 0; got NaN',
      'report(): progress: expected a number from 0; got NaN',
      'stage(): expected one line of at most 400 bytes',
    ])
      expect(log).toContain(line);
  });

  test('in a total is in the log, and progress never exceeds it', async () => {
    const id = await jobs.start('mistaken', { mistake: 'beyond' });
    expect((await ended(id)).progress).toMatchObject({ progress: 9, total: 9 });
    expect(await logOf(id)).toContain('progress goes beyond its total of 6');
  });

  test.each([
    [
      'question without text',
      'BadQuestion',
      'requestInput: message: expected the text of the question; got " "',
    ],
    ['nested question', 'BadSchema', 'requestInput: property "order": expected a string, number, '],
    ['endless question', 'BadQuestion', 'requestInput: timeoutSeconds: expected seconds'],
    ['name of an artifact', 'ArtifactRefused', 'artifact ../../x.txt expected a name'],
    ['absolute name', 'ArtifactRefused', 'artifact /etc/x.txt expected a name'],
    ['content of an artifact', 'ArtifactRefused', 'artifact x.json expected text or bytes; got object'],
    ['details of a failure', 'Pump', 'the pump is broken'],
  ])('ends the operation after one attempt: %s', async (mistake, type, message) => {
    const id = await jobs.start('mistaken', { mistake });
    const { status, error } = await ended(id);
    expect([status, error]).toMatchObject(['failed', { type, retryable: false }]);
    expect(error.message).toContain(message);
    const { attempts, failedTasks } = await repeats(id);
    expect([attempts.length <= 1, failedTasks]).toEqual([true, 0]);
  });
});

test('a value that JSON changes by its own rules has no loss', () => {
  const shared = { cups: 1 };
  const link = new URL('http://localhost/');
  const given = [
    [shared, shared],
    link,
    Object(1),
    Object.create(null),
    [undefined],
    { toJSON: () => 'one' },
  ];
  for (const value of given) expect([value, lossIn(value, 'result')]).toEqual([value, undefined]);
  expect(lossIn({ a: { toJSON: () => [NaN] } }, 'result')).toMatch(/^result\.a\[0\]: .* got NaN/);
  expect(
    lossIn(
      Object.defineProperty({}, 'a', {
        enumerable: true,
        get: () => {
          throw new Error('no');
        },
      }),
      'result',
    ),
  ).toMatch(/^result: .*Error: no/);
});

function textBlocksIn(value: unknown): { text: unknown }[] {
  if (typeof value !== 'object' || value === null) return [];
  if ((value as { type?: unknown }).type === 'text' && !Array.isArray(value))
    return [value as { text: unknown }];
  return Object.values(value).flatMap(textBlocksIn);
}
