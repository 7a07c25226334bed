/** Sessions of agents: the cost of waiting, takeovers, and that the mailbox's workflows are no operations. */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { HEARTBEAT_INTERVAL_MS } from '../../mailbox/limits.js';
import { eventually } from '../stack/cli-process.js';
import { afterAllTests, afterThisTest, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { join, messageOf, once, openMailbox, longWait, newPrincipal, workflowId } from './support.js';

const parts = await forAllTests(TestStack.shared());
const server = await inSetUp(openMailbox(parts));
afterAllTests(() => server.temporal.close());

const describeInbox = async (who: string, name: string) =>
  (await parts.temporal()).workflow.getHandle(workflowId(parts, who, `inbox:${name}`)).describe();
const eventsOf = async (who: string, name: string) => (await describeInbox(who, name)).historyLength;

test('waiting, ending a wait and waiting again write nothing', async () => {
  const who = newPrincipal();
  const agents = await Promise.all(['a', 'b', 'c'].map((name) => join(server, who, name)));
  const events = () => Promise.all(['a', 'b', 'c'].map((name) => eventsOf(who, name)));
  const before = await events();
  const ending = new AbortController();
  const waits = agents.flatMap((agent, index) => [
    // Longer than one long poll.
    server.mailbox.receive(who, agent, longWait({ timeoutMs: 22_000, signal: ending.signal })),
    ...(index > 0
      ? []
      : [
          (async () => {
            for (let count = 0; count < 20; count += 1) {
              await server.mailbox.receive(who, agent, longWait({ timeoutMs: 100 }));
              expect(await server.mailbox.receive(who, agent, once())).toEqual({ kind: 'idle' });
            }
            return { kind: 'idle' };
          })(),
        ]),
  ]);
  expect(await Promise.all(waits)).toEqual(waits.map(() => ({ kind: 'idle' })));
  expect(await events()).toEqual(before);
});

test('the time-out may depend on how long it has been quiet', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'adaptive');
  const seen: number[] = [];
  const timeoutMs = (quietMs: number) => {
    seen.push(quietMs);
    return 50;
  };
  await eventually('it has been quiet for a second', async () => {
    await server.mailbox.receive(who, agent, longWait({ timeoutMs }));
    return seen.at(-1)! > 1_000;
  });
  await server.mailbox.send(who, { to: { names: ['adaptive'] }, content: 'x', mode: 'm' });
  const { messageId } = messageOf(await server.mailbox.receive(who, agent, once()));
  await server.mailbox.receive(who, agent, longWait({ timeoutMs, ack: messageId }));
  expect(seen.at(-1)).toBeLessThan(seen.at(-2)!);
});

test('a waiting agent sends a heartbeat when its last one is old, and no more often', async () => {
  expect(HEARTBEAT_INTERVAL_MS).toBeGreaterThanOrEqual(10 * 60_000);
  const who = newPrincipal();
  const eager = await openMailbox(parts, { heartbeatIntervalMs: 1_000 });
  afterThisTest(() => eager.temporal.close());

  const agent = await join(eager, who, 'signs');
  const registered = await eventsOf(who, 'signs');
  const startedMs = Date.now();
  await eager.mailbox.receive(who, agent, longWait({ timeoutMs: 3_800 }));
  const handle = (await parts.temporal()).workflow.getHandle(workflowId(parts, who, 'inbox:signs'));
  const { events } = await handle.fetchHistory();
  const signs = events!.filter((event) => event.workflowExecutionSignaledEventAttributes);
  expect(signs.length).toBeGreaterThanOrEqual(1);
  expect(signs.length).toBeLessThanOrEqual(1 + (Date.now() - startedMs) / 1_000);
  expect(await eventsOf(who, 'signs')).toBeLessThanOrEqual(registered + signs.length * 5);
});

test('a second registration takes the name over: the wait of the first, at another server, ends as gone', async () => {
  const who = newPrincipal();
  const first = await join(server, who, 'same');
  const other = await openMailbox(parts);
  afterThisTest(() => other.temporal.close());

  const waiting = other.mailbox.receive(who, first, longWait());
  await eventually('it waits', async () => (await server.mailbox.status(who)).agents[0]?.state === 'waiting');
  const { agentId: second, isTakeover } = await server.mailbox.register(who, {
    name: 'same',
    type: 'test',
    capabilities: [],
  });
  expect(isTakeover).toBe(true);
  expect(await waiting).toEqual({ kind: 'gone' });
  expect(await server.mailbox.receive(who, first, longWait())).toEqual({ kind: 'gone' });
  expect(await server.mailbox.receive(who, second, once())).toEqual({ kind: 'idle' });
});

test('inboxes and directories are not operations, for any request', async () => {
  const name = `hidden-${randomUUID()}`;
  await join(server, 'anonymous', name);
  for (const what of ['directory', `inbox:${name}`]) {
    const operation = workflowId(parts, 'anonymous', what);
    for (const tool of ['operation_get', 'operation_cancel', 'operation_answer']) {
      const args = { operation, ...(tool === 'operation_answer' ? { key: 'k', content: {} } : {}) };
      const { result } = await parts.client.with({}).call(tool, { token: operation, ...args });
      expect(result).toMatchObject({ isError: true });
    }
    expect((await (await parts.temporal()).workflow.getHandle(operation).describe()).status.name).toBe(
      'RUNNING',
    );
  }
  const { result } = await parts.client.with({}).call('operation_list', {});
  expect(JSON.stringify(result)).not.toContain('mailbox:');
});
