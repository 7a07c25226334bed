/** Messages to one agent: kept, delivered in order, under a lease, acknowledged, answered. */
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { join, messageOf, once, longWait, newPrincipal, toOne, MailboxStack } from './support.js';

const stack = await forAllTests(MailboxStack.start());
const { server, other } = stack;

test('a message wakes the wait on another process, is answered, and its sender reads the reply', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'worker');
  const waiting = server.mailbox.receive(who, agent, longWait());
  const { messageId } = await other.mailbox.send(who, {
    ...toOne('worker', 'do it'),
    context: { file: 'a.ts' },
    from: { name: 'boss' },
  });
  const received = messageOf(await waiting);
  expect(received).toMatchObject({
    messageId,
    from: 'boss',
    mode: 'task',
    content: 'do it',
    context: { file: 'a.ts' },
    delivery: 1,
  });
  expect(await other.mailbox.replies(who, messageId)).toMatchObject([{ from: 'worker', state: 'delivered' }]);
  const reply = other.mailbox.replies(who, messageId, { wait: 'any', timeoutMs: 60_000 });
  await server.mailbox.respond(who, agent, messageId, 'done');
  expect(await reply).toMatchObject([{ from: 'worker', state: 'answered', response: 'done' }]);
  expect(await server.mailbox.receive(who, agent, once())).toEqual({ kind: 'idle' });
});

test('what is sent to an agent that is not there yet is kept for it, in order of each sender', async () => {
  const who = newPrincipal();
  for (const content of ['1', '2', '3']) await server.mailbox.send(who, toOne('later', content));
  expect((await server.mailbox.peek(who, 'later')).map(({ content }) => content)).toEqual(['1', '2', '3']);
  const agent = await join(server, who, 'later');
  const got: string[] = [];
  let ack: string | undefined;
  for (let count = 0; count < 3; count += 1) {
    const message = messageOf(
      await server.mailbox.receive(who, agent, once(ack === undefined ? {} : { ack })),
    );
    got.push(message.content);
    ack = message.messageId;
  }
  expect(got).toEqual(['1', '2', '3']);
  const last = await server.mailbox.receive(who, agent, once({ ack: ack! }));
  expect(last).toEqual({ kind: 'idle' });
  expect(await server.mailbox.peek(who, 'later')).toEqual([]);
});

test('a repeated send is one message, a repeated response one response, and another response is refused', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'one');
  const message = { ...toOne('one', 'only once'), idempotencyKey: 'k' };
  const sent = [
    await server.mailbox.send(who, message),
    ...(await Promise.all([other, server].map(({ mailbox }) => mailbox.send(who, message)))),
  ];
  expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(1);
  const { messageId } = messageOf(await server.mailbox.receive(who, agent, once()));
  expect(await server.mailbox.peek(who, 'one')).toHaveLength(1);
  await server.mailbox.respond(who, agent, messageId, 'yes');
  await server.mailbox.send(who, message);
  expect(await server.mailbox.peek(who, 'one')).toEqual([]);
  await other.mailbox.respond(who, agent, messageId, 'yes');
  await expect(server.mailbox.respond(who, agent, messageId, 'no')).rejects.toMatchObject({
    kind: 'wrong_state',
    message: expect.stringContaining('already answered'),
  });
  expect(await server.mailbox.replies(who, messageId)).toMatchObject([
    { state: 'answered', response: 'yes' },
  ]);
});

test('the same idempotency key with another message is refused, and changes nothing of the first', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'keyed');
  await join(server, who, 'keyed-too');
  const large = 'x'.repeat(20_000);
  const first = { ...toOne('keyed', large), context: { b: 1, a: [2] }, idempotencyKey: 'k' };
  const { messageId } = await server.mailbox.send(who, first);
  const same = { ...first, context: { a: [2], b: 1 } };
  expect(await other.mailbox.send(who, same)).toMatchObject({ messageId });
  for (const change of [
    { content: 'y'.repeat(20_000) },
    { mode: 'other' },
    { context: { a: [3] } },
    { replyTo: 'boss' },
    { maxDeliveries: 3 },
    { ttlSeconds: 60 },
  ])
    await expect(other.mailbox.send(who, { ...first, ...change })).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringMatching(/^idempotency_key: expected .*; got another message/),
    });
  expect(messageOf(await server.mailbox.receive(who, agent, once())).content).toBe(large);
  await server.mailbox.respond(who, agent, messageId, 'done');
  await expect(server.mailbox.send(who, { ...first, content: 'late' })).rejects.toMatchObject({
    kind: 'conflict',
  });
  for (const to of [
    { names: ['keyed', 'keyed-too'] },
    { all: { type: 'test' } },
    { anyone: { type: 'x' } },
  ]) {
    const several = { ...first, to };
    const sent = await server.mailbox.send(who, several);
    expect(await other.mailbox.send(who, several)).toMatchObject({ messageId: sent.messageId });
    await expect(other.mailbox.send(who, { ...several, content: 'z' })).rejects.toMatchObject({
      kind: 'conflict',
    });
  }
});

test('an agent at work reports progress, which its sender sees, and which renews its lease', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'reporter');
  const { messageId } = await server.mailbox.send(who, toOne('reporter', 'long work'));
  await expect(server.mailbox.report(who, agent, messageId, { text: 'early' })).rejects.toMatchObject({
    kind: 'not_found',
    message: expect.stringContaining('message_id: this agent does not have the message'),
  });
  messageOf(await server.mailbox.receive(who, agent, once({ leaseSeconds: 6 })));
  const seen: (string | undefined)[] = [];
  const waiting = other.mailbox.replies(who, messageId, {
    wait: 'all',
    timeoutMs: 60_000,
    onChange: ([reply]) => seen.push(reply!.progress?.text),
  });
  const leasedMs = Date.now();
  let count = 0;
  // Beyond the lease, and more often than reports are recorded.
  while (Date.now() - leasedMs < 9_000) {
    if (await server.mailbox.report(who, agent, messageId, { text: `step ${count}`, fraction: 0.5 }))
      count += 1;
    await new Promise((settle) => setTimeout(settle, 500));
  }
  expect(count).toBeGreaterThanOrEqual(2);
  // One at once, and then each half of the lease.
  expect(count).toBeLessThanOrEqual(1 + (Date.now() - leasedMs) / 3_000);
  expect(await other.mailbox.replies(who, messageId)).toMatchObject([
    {
      state: 'delivered',
      progress: { text: `step ${count - 1}`, fraction: 0.5, at: expect.stringMatching(/^20/) },
    },
  ]);
  expect((await other.mailbox.status(who)).agents).toMatchObject([{ state: 'busy' }]);
  await server.mailbox.respond(who, agent, messageId, 'done');
  expect(await waiting).toMatchObject([{ state: 'answered', response: 'done' }]);
  expect(seen).toEqual(expect.arrayContaining([undefined, 'step 0', `step ${count - 1}`]));
  for (const [progress, kind] of [
    [{ text: '' }, 'invalid_arguments'],
    [{ text: 'x'.repeat(1_001) }, 'too_large'],
    [{ text: 'x', fraction: 1.1 }, 'invalid_arguments'],
    [{ text: 'x', fraction: NaN }, 'invalid_arguments'],
    [{ text: 'over' }, 'not_found'],
  ] as const)
    await expect(server.mailbox.report(who, agent, messageId, progress)).rejects.toMatchObject({ kind });
  await server.mailbox.bye(who, 'reporter', agent);
  await expect(server.mailbox.report(who, agent, messageId, { text: 'x' })).rejects.toMatchObject({
    kind: 'wrong_state',
  });
});

test('a message that was not acknowledged comes again at once, also on another process', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'again');
  await server.mailbox.send(who, toOne('again', 'first'));
  await server.mailbox.send(who, toOne('again', 'second'));
  const first = messageOf(await server.mailbox.receive(who, agent, once()));
  const repeated = messageOf(await other.mailbox.receive(who, agent, once()));
  expect(repeated).toEqual({ ...first, delivery: 2 });
  const second = await other.mailbox.receive(who, agent, once({ ack: first.messageId }));
  expect(second).toMatchObject({ message: { content: 'second', delivery: 1 }, previous: { mode: 'task' } });
});

test('the lease of a receiver that is gone ends, the agent counts as gone, and the message comes back', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'killed');
  await server.mailbox.send(who, toOne('killed', 'survives'));
  messageOf(await server.mailbox.receive(who, agent, once({ leaseSeconds: 10 })));
  const state = async () => (await other.mailbox.status(who)).agents[0]!.state;
  expect(await state()).toBe('busy');
  await eventually('its lease has ended', async () => (await state()) === 'gone');
  expect((await other.mailbox.status(who)).agents[0]).toMatchObject({ queued: 1 });
  const heir = await join(other, who, 'killed');
  const message = messageOf(await other.mailbox.receive(who, heir, once()));
  expect(message).toMatchObject({ content: 'survives', delivery: 2 });
  expect(await state()).toBe('busy');
  await expect(server.mailbox.respond(who, agent, message.messageId, 'late')).rejects.toMatchObject({
    kind: 'wrong_state',
  });
});

test('a cancelled wait ends at once, and the message that comes then is for the next one', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'cancelled');
  const ending = new AbortController();
  const waiting = server.mailbox.receive(who, agent, longWait({ signal: ending.signal }));
  await eventually('it waits', async () => (await server.mailbox.status(who)).agents[0]?.state === 'waiting');
  ending.abort();
  expect(await waiting).toEqual({ kind: 'aborted' });
  await server.mailbox.send(who, toOne('cancelled', 'kept'));
  const message = messageOf(await server.mailbox.receive(who, agent, once()));
  expect(message.content).toBe('kept');
  await server.mailbox.release(who, agent, message);
  expect((await server.mailbox.status(who)).agents).toMatchObject([{ state: 'waiting', queued: 1 }]);
  // A late release doesn't affect a message that was delivered again since.
  const again = messageOf(await server.mailbox.receive(who, agent, once()));
  await server.mailbox.release(who, agent, { ...message, delivery: 7 });
  expect((await server.mailbox.status(who)).agents).toMatchObject([{ state: 'busy', queued: 0 }]);
  expect(again.delivery).toBe(1);
});

test('a message that nobody took in its time expires, which its sender sees', async () => {
  const who = newPrincipal();
  const { messageId } = await server.mailbox.send(who, { ...toOne('late', 'stale'), ttlSeconds: 1 });
  const sentMs = Date.now();
  const { messageId: fresh } = await server.mailbox.send(who, toOne('late', 'fresh'));
  await eventually('its time is over', () => Date.now() > sentMs + 1_000);
  const agent = await join(server, who, 'late');
  expect(messageOf(await server.mailbox.receive(who, agent, once())).messageId).toBe(fresh);
  expect(await server.mailbox.replies(who, messageId)).toMatchObject([{ state: 'expired' }]);
});
