/** Messages for several agents: for anyone, for all that match, for a list; parents and their children. */
import { expect, test } from '@jest/globals';
import { OFFERS_LIMIT } from '../../mailbox/limits.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { join, messageOf, once, longWait, newPrincipal, MailboxStack } from './support.js';

const stack = await forAllTests(MailboxStack.start());
const { server, other } = stack;

const task = { content: 'work', mode: 'task' };

test('of ten that wait on two processes exactly one gets a message for anyone; each of many goes to one', async () => {
  const who = newPrincipal();
  const agents = await Promise.all(
    Array.from({ length: 10 }, (_, index) => join(server, who, `racer-${index}`, { capabilities: ['race'] })),
  );
  const got: string[] = [];
  const waiting = agents.map(async (agent, index) => {
    const received = await [server, other][index % 2]!.mailbox.receive(who, agent, longWait());
    got.push(messageOf(received).content);
  });
  const sent = await server.mailbox.send(who, {
    to: { anyone: { capability: 'race' } },
    ...task,
    content: '0',
  });
  await eventually('one has it', () => got.length > 0);
  expect(await server.mailbox.replies(who, sent.messageId)).toMatchObject([
    { state: 'delivered', from: expect.stringContaining('racer-') },
  ]);
  const { agents: after, offers } = await server.mailbox.status(who);
  expect([after.filter(({ state }) => state === 'busy').length, offers, got.length]).toEqual([1, 0, 1]);
  await Promise.all(
    Array.from({ length: 9 }, (_, index) =>
      [server, other][index % 2]!.mailbox.send(who, { to: { anyone: {} }, ...task, content: `${index + 1}` }),
    ),
  );
  await Promise.all(waiting);
  expect(got.sort()).toEqual(Array.from({ length: 10 }, (_, index) => `${index}`));
});

test('a message for anyone waits until one that fits is free, and expires in its time', async () => {
  const who = newPrincipal();
  const to = { anyone: { type: 'codex', capability: 'review' } };
  const { messageId } = await server.mailbox.send(who, { to, ...task });
  const { messageId: shortLived } = await server.mailbox.send(who, { to, ...task, ttlSeconds: 1 });
  const unfit = await join(server, who, 'unfit', { type: 'codex', capabilities: ['write'] });
  expect(await server.mailbox.receive(who, unfit, longWait({ timeoutMs: 1_500 }))).toEqual({ kind: 'idle' });
  expect(await server.mailbox.replies(who, messageId)).toEqual([{ state: 'offered' }]);
  const fit = await join(server, who, 'fit', { type: 'codex', capabilities: ['write', 'review'] });
  const message = messageOf(await other.mailbox.receive(who, fit, longWait()));
  expect(message.messageId).toBe(messageId);
  expect(await server.mailbox.replies(who, shortLived)).toEqual([{ state: 'expired' }]);
  const waiting = server.mailbox.replies(who, messageId, { wait: 'all', timeoutMs: 60_000 });
  await other.mailbox.respond(who, fit, messageId, 'reviewed');
  expect(await waiting).toMatchObject([{ from: 'fit', state: 'answered', response: 'reviewed' }]);
});

test('a message that its taker does not finish within its lease, or leaves with a bye, goes to another agent', async () => {
  const who = newPrincipal();
  const first = await join(server, who, 'first');
  const { messageId } = await server.mailbox.send(who, { to: { anyone: {} }, ...task });
  messageOf(await server.mailbox.receive(who, first, longWait({ leaseSeconds: 2 })));
  const second = await join(server, who, 'second');
  const again = messageOf(await other.mailbox.receive(who, second, longWait()));
  expect(again).toMatchObject({ messageId, content: 'work' });
  await expect(server.mailbox.respond(who, first, messageId, 'late')).rejects.toMatchObject({
    kind: 'not_found',
  });
  await other.mailbox.bye(who, 'second', second);
  const third = await join(server, who, 'third');
  expect(messageOf(await server.mailbox.receive(who, third, longWait())).messageId).toBe(messageId);
  await server.mailbox.respond(who, third, messageId, 'at last');
  expect(await server.mailbox.replies(who, messageId)).toMatchObject([
    { from: 'third', response: 'at last' },
  ]);
});

test('too many messages for anyone are refused', async () => {
  const who = newPrincipal();
  const offer = () => server.mailbox.send(who, { to: { anyone: {} }, ...task });
  await Promise.all(Array.from({ length: OFFERS_LIMIT }, offer));
  await expect(offer()).rejects.toMatchObject({ kind: 'wrong_state', retryable: true });
});

test('a message for all that fit, or for a list, goes to each, and waits for any or all replies', async () => {
  const who = newPrincipal();
  const agents: Record<string, string> = {};
  for (const name of ['a', 'b', 'c'])
    agents[name] = await join(server, who, name, { capabilities: name === 'c' ? [] : ['x'] });
  await join(server, who, 'left', { capabilities: ['x'] });
  await server.mailbox.bye(who, 'left');
  const sent = await server.mailbox.send(who, { to: { all: { capability: 'x' } }, ...task });
  expect(sent).toMatchObject({ recipients: ['a', 'b'], refused: [] });
  const ask = (wait: 'any' | 'all') =>
    other.mailbox.replies(who, sent.messageId, { wait, timeoutMs: 60_000 });
  const any = ask('any');
  const all = ask('all');
  for (const name of ['b', 'a']) {
    const { messageId } = messageOf(await server.mailbox.receive(who, agents[name]!, once()));
    await server.mailbox.respond(who, agents[name]!, messageId, `from ${name}`);
    if (name === 'b')
      expect(await any).toMatchObject([{ from: 'a' }, { from: 'b', state: 'answered', response: 'from b' }]);
  }
  expect(await all).toMatchObject([{ response: 'from a' }, { response: 'from b' }]);
  const listed = await server.mailbox.send(who, {
    to: { names: ['c', 'new', 'c'] },
    ...task,
    idempotencyKey: 'k',
  });
  expect(listed.recipients).toEqual(['c', 'new']);
  await server.mailbox.send(who, { to: { names: ['c', 'new', 'c'] }, ...task, idempotencyKey: 'k' });
  expect(await server.mailbox.peek(who, 'c')).toHaveLength(1);
  const waited = await server.mailbox.replies(who, listed.messageId, { wait: 'any', timeoutMs: 300 });
  expect(waited.map(({ state }) => state)).toEqual(['queued', 'queued']);
});

test('a parent sees its children and ends the waiting of one, but not of other agents', async () => {
  const who = newPrincipal();
  const parent = await join(server, who, 'parent');
  const child = await join(server, who, 'child', { parent: 'parent' });
  await join(server, who, 'stranger');
  const children = async () => (await server.mailbox.status(who, { parent: 'parent' })).agents;
  expect(await children()).toMatchObject([{ name: 'child', state: 'waiting' }]);
  const waiting = other.mailbox.receive(who, child, longWait());
  await expect(server.mailbox.bye(who, 'stranger', parent)).rejects.toMatchObject({ kind: 'wrong_state' });
  await expect(server.mailbox.bye(who, 'parent', child)).rejects.toMatchObject({ kind: 'wrong_state' });
  await server.mailbox.bye(who, 'child', parent);
  expect(await waiting).toEqual({ kind: 'bye' });
  await server.mailbox.bye(who, 'child', parent);
  expect(await other.mailbox.receive(who, child, longWait())).toEqual({ kind: 'bye' });
  expect(await children()).toMatchObject([{ name: 'child', state: 'gone' }]);
  const back = await join(server, who, 'child', { parent: 'parent' });
  expect(await server.mailbox.receive(who, back, once())).toEqual({ kind: 'idle' });
  expect(await children()).toMatchObject([{ state: 'waiting' }]);
  expect((await server.mailbox.status(newPrincipal())).agents).toEqual([]);
});
