/** Waits of one agent that are open at the same time, and leases that end. */
import { describe, expect, test } from '@jest/globals';
import { readMailboxes } from '../../mailbox/client/gauges.js';
import type { ReceiveOptions, ReceiveResult } from '../../mailbox/types.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import {
  join,
  longWait,
  messageOf,
  MailboxStack,
  newPrincipal,
  once,
  toOne,
  type MailboxProcess,
} from './support.js';

const stack = await forAllTests(MailboxStack.start());
const { server, other } = stack;

/** Begins a wait. Resolves once it has read the inbox, and found nothing for it. */
async function open(
  { mailbox }: MailboxProcess,
  who: string,
  agent: string,
  options: Partial<ReceiveOptions> = {},
): Promise<{ received: Promise<ReceiveResult> }> {
  let received!: Promise<ReceiveResult>;
  await new Promise<void>((isOpen) => {
    const timeoutMs = () => {
      isOpen();
      return 60_000;
    };
    received = mailbox.receive(who, agent, longWait({ ...options, timeoutMs }));
  });
  return { received };
}

describe.each([
  ['at one server', () => [server, server]],
  ['at two servers', () => [server, other]],
] as [string, () => MailboxProcess[]][])('two overlapping waits of one agent %s', (_where, servers) => {
  const openBoth = (who: string, agent: string) => Promise.all(servers().map((one) => open(one, who, agent)));

  test('do not both get a message: the other wait gets the next one', async () => {
    const who = newPrincipal();
    const agent = await join(server, who, 'twice');
    const waits = await openBoth(who, agent);
    const results = waits.map(({ received }) => received);
    await server.mailbox.send(who, toOne('twice', 'one'));
    const first = messageOf(await Promise.race(results));
    // A change that both see.
    await server.mailbox.send(who, toOne('twice', 'two'));
    await server.mailbox.respond(who, agent, first.messageId, 'done');
    const both = (await Promise.all(results)).map(messageOf);
    expect(both.map(({ content, delivery }) => [content, delivery]).sort()).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
  });

  test('leave a message with one permitted delivery to the agent, which can answer it', async () => {
    const who = newPrincipal();
    const agent = await join(server, who, 'single');
    const waits = await openBoth(who, agent);
    const results = waits.map(({ received }) => received);
    const { messageId } = await server.mailbox.send(who, { ...toOne('single', 'one'), maxDeliveries: 1 });
    expect(messageOf(await Promise.race(results)).messageId).toBe(messageId);
    await server.mailbox.send(who, toOne('single', 'two'));
    expect(await server.mailbox.replies(who, messageId)).toMatchObject([{ state: 'delivered' }]);
    await server.mailbox.respond(who, agent, messageId, 'done');
    const both = (await Promise.all(results)).map((received) => messageOf(received).content);
    expect(both.sort()).toEqual(['one', 'two']);
    expect(await server.mailbox.deadLetters(who, 'single')).toEqual([]);
    expect(await server.mailbox.replies(who, messageId)).toMatchObject([{ state: 'answered' }]);
  });
});

test('two overlapping waits get a message one after the other if its lease ends', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'lapsed');
  const waits = await Promise.all([server, other].map((one) => open(one, who, agent, { leaseSeconds: 1 })));
  await server.mailbox.send(who, toOne('lapsed', 'one'));
  const both = (await Promise.all(waits.map(({ received }) => received))).map(messageOf);
  expect(both.map(({ delivery }) => delivery).sort()).toEqual([1, 2]);
});

test('of waits that begin together while a message is there, one gets it', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'eager');
  await server.mailbox.send(who, toOne('eager', 'one'));
  const waits = Array.from({ length: 4 }, () =>
    server.mailbox.receive(who, agent, longWait({ timeoutMs: 1_000 })),
  );
  const kinds = (await Promise.all(waits)).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual(['idle', 'idle', 'idle', 'message']);
});

test('a wait that follows the release of a message gets it for the first time', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'interrupted');
  const { messageId } = await server.mailbox.send(who, { ...toOne('interrupted', 'one'), maxDeliveries: 1 });
  for (let round = 0; round < 10; round += 1) {
    const message = messageOf(await server.mailbox.receive(who, agent, longWait()));
    expect([message.messageId, message.delivery]).toEqual([messageId, 1]);
    void server.mailbox.release(who, agent, message);
  }
});

test('a message whose lease has ended is queued again for those who look, after as many deliveries', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'gone');
  const { messageId } = await server.mailbox.send(who, toOne('gone', 'one'));
  await server.mailbox.send(who, toOne('gone', 'two'));
  messageOf(await server.mailbox.receive(who, agent, once({ leaseSeconds: 10 })));
  const states = async () =>
    (await other.mailbox.peek(who, 'gone')).map(({ state, deliveries }) => [state, deliveries]);
  expect(await states()).toEqual([
    ['delivered', undefined],
    ['queued', undefined],
  ]);
  expect(await other.mailbox.replies(who, messageId)).toMatchObject([{ state: 'delivered' }]);
  await eventually('the lease has ended', async () => (await states())[0]![0] === 'queued');
  expect(await states()).toEqual([
    ['queued', 1],
    ['queued', undefined],
  ]);
  expect(await other.mailbox.replies(who, messageId)).toMatchObject([{ state: 'queued' }]);
});

test('agents, messages, the age of the oldest and dead letters are measured', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'measured');
  await server.mailbox.send(who, { ...toOne('measured', 'poison'), maxDeliveries: 1 });
  messageOf(await server.mailbox.receive(who, agent, once()));
  expect(await server.mailbox.receive(who, agent, once())).toEqual({ kind: 'idle' });
  const sentMs = Date.now();
  for (const content of ['taken', 'waits']) await server.mailbox.send(who, toOne('measured', content));
  await server.mailbox.send(who, { to: { anyone: { type: 'nobody' } }, content: 'offered', mode: 'task' });
  messageOf(await server.mailbox.receive(who, agent, once()));
  // Other tests have mailboxes on the same task queue.
  await eventually('visibility has them', async () => {
    const { agents, messages, deadLetters, oldestSentMs = Infinity } = await readMailboxes(server.temporal);
    return (
      agents.busy > 0 &&
      messages.delivered > 0 &&
      messages.queued > 0 &&
      messages.offered > 0 &&
      deadLetters > 0 &&
      oldestSentMs <= sentMs + 1_000
    );
  });
});
