/** A client whose server was asked to stop continues at another server, without losing or repeating anything. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
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
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-reconnect-'));
  // Own servers: the test stops the first.
  stack = await TestStack.serverOnSharedWorker({});
  ({ url: other } = await secondServer(stack));
});
afterEach(async () => {
  await stack?.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const file = (name = 'end') => join(folder, name);
const end = (name?: string) => writeFileSync(file(name), '');

/** Has the first server stop, and checks that it did so within its time. */
async function stopServer(): Promise<void> {
  const server = stack.parts[0]!;
  await server.end();
  expect(server.process.exitCode).toBe(0);
}

test("a job's events continue after the last event ID, each once and in order", async () => {
  const jobId = await new JobsClient(stack.base).start('chatter', { file: file() });
  const first = await openEvents(stack.base, jobId);
  const linesOf = (events: typeof first.events) => loggedLines(events)['operation'] ?? [];
  await eventually('lines have come', () => linesOf(first.events).length > 20);
  await stopServer();
  expect(await first.ended).toBe(true);
  expect(first.events.at(-1)).toMatchObject({ event: 'server_stopping' });
  expect(first.events.at(-1)).not.toHaveProperty('id');

  const base = other.replace(/\/mcp$/, '');
  const second = await openEvents(base, jobId, first.lastId());
  await eventually('more lines come', () => linesOf(second.events).length > 20);
  end();
  await second.ended;
  const read = [...first.events, ...second.events];
  expect(read.at(-1)).toMatchObject({ event: 'result', data: { status: 'succeeded' } });
  const lines = linesOf(read);
  expect(lines.map(({ number }) => number)).toEqual(lines.map((_line, index) => index + 1));
  expect(lines).toHaveLength(read.at(-1)!.data.result.lines);
  const whole = await allEvents(base, jobId);
  expect(lines).toEqual(linesOf(whole));
  expect(stateEvents(read)).toEqual(stateEvents(whole));
});

test("a session's stream of 2025-11-25 with event IDs delivers each result once", async () => {
  const client = await HttpClient.open(stack.client.url);
  await client.listen();
  const start = async (name: string): Promise<string> => {
    const { result } = await client.request('tools/call', {
      name: 'chatter',
      arguments: { file: file(name) },
    });
    return result.data.job_id;
  };
  const [before, between, after] = [await start('before'), await start('between'), await start('after')];
  end('before');
  await eventually('a result', () => notificationsOf(client, before).results[0]);
  await eventually('progress of the others', () =>
    [between, after].every((jobId) => notificationsOf(client, jobId).progress.length > 1),
  );
  await stopServer();

  client.url = other;
  end('between');
  await eventually('it has ended', async () => {
    const { result } = await client.request('tools/poll_result', { job_id: between });
    return result.data.status === 'complete';
  });
  expect(notificationsOf(client, between).results).toEqual([]);
  await client.listen();
  await eventually('the result that was missed', () => notificationsOf(client, between).results[0]);
  end('after');
  await eventually('the last result', () => notificationsOf(client, after).results[0]);
  for (const jobId of [before, between, after]) {
    const { progress, results } = notificationsOf(client, jobId);
    expect([jobId, results.length]).toEqual([jobId, 1]);
    const shares = progress.map((one) => one.progress);
    expect(shares).toEqual([...shares].sort((one, next) => one - next));
  }
  await client.close();
});

test('a subscription of 2026-07-28 ends with its result, and the next one begins with what has changed', async () => {
  const taskIds = [
    await stack.client.start('chatter', { file: file('one') }),
    await stack.client.start('chatter', { file: file('two') }),
  ];
  const first = await subscribe(stack.client, { taskIds });
  await eventually('both are notified', () =>
    taskIds.every((taskId) => tasksIn(first.messages).some((task) => task.taskId === taskId)),
  );
  await stopServer();
  await first.ended;
  expect(first.messages.at(-1)).toMatchObject({
    id: first.subscriptionId,
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
