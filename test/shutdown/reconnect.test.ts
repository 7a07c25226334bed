/** A client whose server was asked to stop continues at another server, without losing or repeating anything. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { allEvents, loggedLines, openEvents, stateEvents } from '../http-jobs/sse.js';
import { secondServer } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { subscribe, tasksIn } from '../subscriptions/support.js';
import { JobsClient } from '../support/jobs.js';
import { STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { HttpClient, notificationsOf } from '../two-stage/client.js';

jest.setTimeout(STACK_MS);

let folder: string;
let stack: TestStack;
/** The server that continues. */
let other: string;

let jobId: string;
let jobEvents: Awaited<ReturnType<typeof openEvents>>;
let session: HttpClient;
/** Jobs of the session, by when they end. */
const jobs = { before: '', between: '', after: '' };
let taskIds: string[];
let subscription: Awaited<ReturnType<typeof subscribe>>;

const file = (name: string) => join(folder, name);
const end = (name: string) => writeFileSync(file(name), '');
const linesOf = (events: typeof jobEvents.events) => loggedLines(events)['operation'] ?? [];

/** Opens a stream of each protocol at the first server, and stops it. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-reconnect-'));
  // Own servers: the test stops the first.
  stack = await TestStack.serverOnSharedWorker({});
  ({ url: other } = await secondServer(stack));

  jobId = await new JobsClient(stack.base).start('chatter', { file: file('job') });
  jobEvents = await openEvents(stack.base, jobId);
  session = await HttpClient.open(stack.client.url);
  await session.listen();
  for (const name of ['before', 'between', 'after'] as const) {
    const call = { name: 'chatter', arguments: { file: file(name) } };
    jobs[name] = (await session.request('tools/call', call)).result.data.job_id;
  }
  taskIds = [
    await stack.client.start('chatter', { file: file('one') }),
    await stack.client.start('chatter', { file: file('two') }),
  ];
  subscription = await subscribe(stack.client, { taskIds });

  await eventually('lines have come', () => linesOf(jobEvents.events).length > 20);
  end('before');
  await eventually('a result', () => notificationsOf(session, jobs.before).results[0]);
  await eventually('progress of the others', () =>
    [jobs.between, jobs.after].every((id) => notificationsOf(session, id).progress.length > 1),
  );
  await eventually('both tasks are notified', () =>
    taskIds.every((taskId) => tasksIn(subscription.messages).some((task) => task.taskId === taskId)),
  );
  const server = stack.parts[0]!;
  await server.end();
  expect(server.process.exitCode).toBe(0);
}, STACK_MS);
afterAll(async () => {
  await stack?.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

test("a job's events continue after the last event ID, each once and in order", async () => {
  expect(await jobEvents.ended).toBe(true);
  expect(jobEvents.events.at(-1)).toMatchObject({ event: 'server_stopping' });
  expect(jobEvents.events.at(-1)).not.toHaveProperty('id');

  const base = other.replace(/\/mcp$/, '');
  const second = await openEvents(base, jobId, jobEvents.lastId());
  await eventually('more lines come', () => linesOf(second.events).length > 20);
  end('job');
  await second.ended;
  const read = [...jobEvents.events, ...second.events];
  expect(read.at(-1)).toMatchObject({ event: 'result', data: { status: 'succeeded' } });
  const lines = linesOf(read);
  expect(lines.map(({ number }) => number)).toEqual(lines.map((_line, index) => index + 1));
  expect(lines).toHaveLength(read.at(-1)!.data.result.lines);
  const whole = await allEvents(base, jobId);
  expect(lines).toEqual(linesOf(whole));
  expect(stateEvents(read)).toEqual(stateEvents(whole));
});

test("a session's stream of 2025-11-25 with event IDs delivers each result once", async () => {
  session.url = other;
  end('between');
  await eventually('it has ended', async () => {
    const { result } = await session.request('tools/poll_result', { job_id: jobs.between });
    return result.data.status === 'complete';
  });
  expect(notificationsOf(session, jobs.between).results).toEqual([]);
  await session.listen();
  await eventually('the result that was missed', () => notificationsOf(session, jobs.between).results[0]);
  end('after');
  await eventually('the last result', () => notificationsOf(session, jobs.after).results[0]);
  for (const id of Object.values(jobs)) {
    const { progress, results } = notificationsOf(session, id);
    expect([id, results.length]).toEqual([id, 1]);
    const shares = progress.map((one) => one.progress);
    expect(shares).toEqual([...shares].sort((one, next) => one - next));
  }
  await session.close();
});

test('a subscription of 2026-07-28 ends with its result, and the next one begins with what has changed', async () => {
  await subscription.ended;
  expect(subscription.messages.at(-1)).toMatchObject({
    id: subscription.subscriptionId,
    result: { resultType: 'complete' },
  });

  const client = new WireClient(other);
  end('one');
  await client.until(taskIds[0]!, 'completed');
  const second = await subscribe(client, { taskIds });
  const isNotified = (index: number) =>
    tasksIn(second.messages).some(
      ({ taskId, status }) => taskId === taskIds[index] && status === 'completed',
    );
  await eventually('the end that was missed is notified', () => isNotified(0));
  end('two');
  await eventually('the other end is notified', () => isNotified(1));
  second.close();
});
