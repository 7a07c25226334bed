import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { Hosts, type TestHost } from './support.js';
import { PIPELINES } from './pipelines.js';

/** Missing heartbeats are noticed after two minutes; the minimum absence is two minutes as well. */
const MOVE_LIMIT_MS = 420_000;

jest.setTimeout(MOVE_LIMIT_MS + 80_000);

const tokens: Record<string, string> = {};

const client = () => hosts.parts.client;

async function resumed(token: string): Promise<string> {
  const { result } = await client().call('operation_resume', { token });
  if (result.isError) throw new Error(JSON.stringify(result));
  return result.structuredContent.token;
}

/** The open question of an operation. */
async function question(token: string, limitMs = MOVE_LIMIT_MS): Promise<{ key: string; message: string }> {
  const task = await client().until(token, 'input_required', limitMs);
  const [[key, request]] = Object.entries<any>(task.inputRequests) as [[string, any]];
  return { key, message: request.params.message };
}

async function answer(token: string, content: object, limitMs?: number): Promise<string> {
  const { key, message } = await question(token, limitMs);
  await client().answer(token, key, { action: 'accept', content });
  return message;
}

const hosts = await forAllTests(Hosts.start(PIPELINES));
/** Killed before the other one, and started again in the last test. */
const returning = await inSetUp(hosts.add('returning'));
let first: TestHost;
beforeAll(async () => {
  tokens['returned'] = await hosts.startOn('careful', 'returned');
  await eventually('it runs', () => hosts.lines('returned').includes('start two returning'));
  await hosts.kill(returning);
  first = await hosts.add('first');
  for (const name of Object.keys(PIPELINES)) tokens[name] = await hosts.startOn(name, name);
  for (const name of ['repeatable', 'careful', 'tidied'])
    await eventually(`${name} runs`, () => hosts.lines(name).includes('start two first'));
  await question(tokens['approved']!);
  await hosts.add('second');
  await hosts.kill(first);
  await client().request('tasks/cancel', { taskId: tokens['tidied']! });
});

/** The lines of a ledger that one host has left. */
const linesOf = (ledger: string, host: string) =>
  hosts.lines(ledger).filter((line) => line.endsWith(` ${host}`));

describe('a host that is killed for good', () => {
  test('is named by the status of what waits for it', async () => {
    await answer(tokens['approved']!, { approve: true });
    const { statusMessage } = await client().until(
      tokens['approved']!,
      ({ statusMessage }) => statusMessage?.includes(first.id),
      MOVE_LIMIT_MS,
    );
    expect(statusMessage).toMatch(
      new RegExp(`host ${first.id} has not taken job work / step "?deploy"? for `),
    );
  });

  test('loses its idempotent job to another host without a question', async () => {
    await eventually(
      'it runs there',
      () => hosts.lines('repeatable').includes('start two second'),
      MOVE_LIMIT_MS,
    );
    hosts.letGo('repeatable');
    await client().until(tokens['repeatable']!, 'completed');
    expect(hosts.lines('repeatable')).toEqual([
      'one first',
      'start two first',
      'one second',
      'start two second',
      'end two second',
    ]);
  });

  test('is named, with job and step, by the question about a job that is not idempotent', async () => {
    const { message } = await question(tokens['careful']!);
    expect(message).toMatch(
      new RegExp(
        `^The host ${first.id}, which has the workspace of work, has not been seen since \\S+Z: step "two" of work can't continue\\.\n` +
          'Not idempotent, and run again if the job starts again: "two"\\.\n' +
          'If the host is only cut off, step "two" may still run there\\.$',
      ),
    );
    expect(linesOf('careful', 'second')).toEqual([]);
    await answer(tokens['careful']!, { decision: 'start_job_again' });
    await eventually('it runs there', () => hosts.lines('careful').includes('start two second'));
    hosts.letGo('careful');
    await client().until(tokens['careful']!, 'completed');
    expect(linesOf('careful', 'second')).toEqual(['one second', 'start two second', 'end two second']);
  });

  test('loses a job whose next step had not begun, and the approval is asked again', async () => {
    expect(await question(tokens['approved']!)).toMatchObject({ key: 'input-2' });
    await answer(tokens['approved']!, { approve: true });
    await client().until(tokens['approved']!, 'completed');
    expect(hosts.lines('approved')).toEqual(['one first', 'one second', 'deploy second']);
  });

  test('keeps no cancel waiting, and a resume does not need it', async () => {
    await client().until(tokens['tidied']!, 'cancelled', MOVE_LIMIT_MS);
    const again = await resumed(tokens['tidied']!);
    await eventually(
      'it runs there',
      () => hosts.lines('tidied').includes('start two second'),
      MOVE_LIMIT_MS,
    );
    hosts.letGo('tidied');
    await client().until(again, 'completed');
    expect(linesOf('tidied', 'second')).toEqual([
      'one second',
      'start two second',
      'end two second',
      'tidy second',
    ]);
  });
});

test('a host that comes back while a question about it is open withdraws the question', async () => {
  const token = tokens['returned']!;
  const asked = async (start: string) => {
    const { inputRequests } = await client().until(
      token,
      (task) =>
        Object.values<any>(task.inputRequests ?? {}).some(({ params }) => params.message.startsWith(start)),
      MOVE_LIMIT_MS,
    );
    return Object.keys(inputRequests);
  };
  await asked(`The host ${returning.id}, which has the workspace of work`);
  await hosts.again(returning, 'returning');
  // Its journal has the start of the step, but not its end.
  const [key, ...others] = await asked('Is work / two done?');
  expect(others).toEqual([]);
  hosts.letGo('returned');
  await client().answer(token, key!, { action: 'accept', content: { decision: 'run_again' } });
  await client().until(token, 'completed');
  expect(linesOf('returned', 'second')).toEqual([]);
});
