/** Dead letters: maximum deliveries, notices to the sender, resending and dropping. */
import { expect, test } from '@jest/globals';
import type { ReceiveResult } from '../../mailbox/types.js';
import { eventually } from '../stack/cli-process.js';
import { afterThisTest, forAllTests } from '../support/for-all-tests.js';
import {
  join,
  messageOf,
  once,
  openMailbox,
  longWait,
  newPrincipal,
  toOne,
  workflowId,
  MailboxStack,
} from './support.js';

const stack = await forAllTests(MailboxStack.start());
const { parts, server, other } = stack;

const contentOf = (received: ReceiveResult) =>
  received.kind === 'message' ? received.message.content : undefined;

/** Waits repeatedly without acknowledging a message. @returns the number of deliveries */
async function takesOf(who: string, agent: string, content: string): Promise<number> {
  for (let takes = 0; ; takes += 1) {
    const received = await server.mailbox.receive(who, agent, once());
    if (contentOf(received) !== content || takes > 30) return takes;
  }
}

test('a message that is never acknowledged is delivered 5 times, and then those behind it', async () => {
  const who = newPrincipal();
  const { messageId } = await server.mailbox.send(who, toOne('poisoned', 'poison'));
  await server.mailbox.send(who, toOne('poisoned', 'behind'));
  const agent = await join(server, who, 'poisoned');
  const waiting = other.mailbox.replies(who, messageId, { wait: 'all', timeoutMs: 60_000 });
  expect(await takesOf(who, agent, 'poison')).toBe(5);
  expect(contentOf(await server.mailbox.receive(who, agent, once()))).toBe('behind');
  const dead = [{ from: 'poisoned', state: 'dead_lettered', deliveries: 5, at: expect.any(String) }];
  expect(await waiting).toEqual(dead);
  expect(await other.mailbox.replies(who, messageId)).toEqual(dead);
  expect(await other.mailbox.deadLetters(who, 'poisoned')).toMatchObject([
    { messageId, inbox: 'poisoned', content: 'poison', deliveries: 5 },
  ]);
  expect((await other.mailbox.status(who)).agents).toMatchObject([{ deadLetters: 1 }]);
});

test('its sender may set how often; takeovers and ended leases count, what was released does not', async () => {
  const who = newPrincipal();
  const { messageId } = await server.mailbox.send(who, { ...toOne('counted', 'poison'), maxDeliveries: 2 });
  let agent = await join(server, who, 'counted');
  for (let count = 0; count < 3; count += 1)
    await server.mailbox.release(who, agent, messageOf(await server.mailbox.receive(who, agent, once())));
  // A takeover.
  messageOf(await server.mailbox.receive(who, agent, once()));
  agent = await join(server, who, 'counted');
  expect(await server.mailbox.replies(who, messageId)).toMatchObject([{ state: 'queued' }]);
  // The last lease ends without a call.
  expect(messageOf(await server.mailbox.receive(who, agent, once({ leaseSeconds: 1 }))).delivery).toBe(2);
  await eventually('the message is a dead letter', async () => {
    const [reply] = await other.mailbox.replies(who, messageId);
    return reply!.state === 'dead_lettered' && reply!.deliveries === 2;
  });
  const single = { ...toOne('counted', 'once'), maxDeliveries: 1 };
  const { messageId: takenOver } = await server.mailbox.send(who, single);
  messageOf(await server.mailbox.receive(who, agent, once()));
  await join(server, who, 'counted');
  expect(await server.mailbox.replies(who, takenOver)).toMatchObject([{ state: 'dead_lettered' }]);
  for (const maxDeliveries of [0, 101, 1.5])
    await expect(server.mailbox.send(who, { ...single, maxDeliveries })).rejects.toMatchObject({
      kind: 'invalid_arguments',
      message: `max_deliveries: expected a whole number from 1 to 100; got ${maxDeliveries}`,
    });
});

test('a wait that times out while it takes a message delivers it, so that no delivery is lost', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'hasty');
  for (let round = 0; round < 20; round += 1) {
    const single = { ...toOne('hasty', `round ${round}`), maxDeliveries: 1 };
    const sending = other.mailbox.send(who, single);
    let received: ReceiveResult = { kind: 'idle' };
    // The waits are about as long as a take, so many end in the middle of one.
    const hasMissed = () => received.kind !== 'message';
    for (let waits = 0; hasMissed() && waits < 500; waits += 1)
      received = await server.mailbox.receive(who, agent, longWait({ timeoutMs: 15 }));
    const { messageId, delivery } = messageOf(received);
    expect({ messageId, delivery }).toEqual({ messageId: (await sending).messageId, delivery: 1 });
    await server.mailbox.respond(who, agent, messageId, 'done');
  }
  expect(await other.mailbox.deadLetters(who, 'hasty')).toEqual([]);
});

test('the agent in replyTo gets a notice of the dead letter, and a late response too', async () => {
  const who = newPrincipal();
  const boss = await join(server, who, 'boss');
  const poison = { ...toOne('worker', 'poison'), from: { agentId: boss }, replyTo: 'boss', maxDeliveries: 1 };
  const { messageId } = await server.mailbox.send(who, poison);
  const worker = await join(server, who, 'worker');
  messageOf(await server.mailbox.receive(who, worker, once()));
  expect(await server.mailbox.receive(who, worker, once())).toEqual({ kind: 'idle' });
  const notice = messageOf(await other.mailbox.receive(who, boss, longWait()));
  expect(notice).toMatchObject({ from: 'worker', mode: 'dead_letter', responseTo: messageId });
  expect(notice.content).toContain('was delivered 1 time, last to worker, and never acknowledged');
  await server.mailbox.respond(who, worker, messageId, 'late');
  expect(await server.mailbox.replies(who, messageId)).toMatchObject([
    { state: 'answered', response: 'late' },
  ]);
  expect(await server.mailbox.deadLetters(who, 'worker')).toEqual([]);
  const response = messageOf(await other.mailbox.receive(who, boss, longWait({ ack: notice.messageId })));
  expect(response).toMatchObject({ mode: 'response', content: 'late', responseTo: messageId });
});

test('for anyone: failures count across its takers, and a dead letter that is resent is offered again', async () => {
  const who = newPrincipal();
  const { messageId } = await server.mailbox.send(who, {
    to: { anyone: {} },
    content: 'poison',
    mode: 'task',
    maxDeliveries: 2,
  });
  for (const name of ['first', 'second']) {
    const agent = await join(server, who, name);
    expect(messageOf(await server.mailbox.receive(who, agent, longWait({ leaseSeconds: 1 }))).messageId).toBe(
      messageId,
    );
  }
  await eventually('it is a dead letter', async () => {
    const [reply] = await other.mailbox.replies(who, messageId);
    return reply!.state === 'dead_lettered' && reply!.deliveries === 2 && reply!.from === 'second';
  });
  expect((await other.mailbox.status(who)).offers).toBe(0);
  await other.mailbox.settleDeadLetter(who, { messageId, action: 'resend' });
  const third = await join(server, who, 'third');
  expect(messageOf(await server.mailbox.receive(who, third, longWait()))).toMatchObject({
    messageId,
    delivery: 1,
  });
  expect(await server.mailbox.deadLetters(who, 'second')).toEqual([]);
});

test('a dead letter is resent or dropped by its sender, the owner of the inbox or a person, and nobody else', async () => {
  const who = newPrincipal();
  const [sender, owner, stranger] = await Promise.all(
    ['sender', 'owner', 'stranger'].map((name) => join(server, who, name)),
  );
  const die = async () => {
    const poison = { ...toOne('owner', 'poison'), from: { agentId: sender! }, maxDeliveries: 1 };
    const { messageId } = await server.mailbox.send(who, poison);
    messageOf(await server.mailbox.receive(who, owner!, once()));
    expect(await server.mailbox.receive(who, owner!, once())).toEqual({ kind: 'idle' });
    return messageId;
  };
  const messageId = await die();
  const settle = (action: 'resend' | 'drop', by?: string) =>
    other.mailbox.settleDeadLetter(who, { messageId, action, ...(by === undefined ? {} : { by }) });
  await expect(settle('drop', stranger)).rejects.toMatchObject({ kind: 'wrong_state' });
  await settle('resend', sender);
  expect(await server.mailbox.replies(who, messageId)).toMatchObject([{ state: 'queued' }]);
  await expect(settle('resend')).rejects.toMatchObject({ kind: 'not_found' });
  expect(messageOf(await server.mailbox.receive(who, owner!, once()))).toMatchObject({
    messageId,
    delivery: 1,
  });
  expect(await server.mailbox.receive(who, owner!, once())).toEqual({ kind: 'idle' });
  await settle('drop', owner);
  expect(await server.mailbox.replies(who, messageId)).toMatchObject([{ state: 'dropped' }]);
  expect(await server.mailbox.deadLetters(who, 'owner')).toEqual([]);
  await expect(server.mailbox.respond(who, owner!, messageId, 'late')).rejects.toMatchObject({
    kind: 'not_found',
  });
  const second = await die();
  await other.mailbox.settleDeadLetter(who, { messageId: second, action: 'drop' });
  for (const unknown of ['nonesuch', '', 'owner~000000000000', 'nobody~000000000000', '~000000000000'])
    await expect(
      other.mailbox.settleDeadLetter(who, { messageId: unknown, action: 'drop' }),
    ).rejects.toMatchObject({ kind: 'not_found' });
});

test('an inbox keeps a bounded number of dead letters over its runs, the latest ones', async () => {
  const who = newPrincipal();
  const eager = await openMailbox(parts, { continueAfterChanges: 20 });
  afterThisTest(() => eager.temporal.close());

  const agent = await join(eager, who, 'many');
  const content = 'x'.repeat(4_000);
  for (let count = 0; count < 30; count += 1) {
    await eager.mailbox.send(who, { ...toOne('many', `${count} ${content}`), maxDeliveries: 1 });
    messageOf(await eager.mailbox.receive(who, agent, once()));
    expect(await eager.mailbox.receive(who, agent, once())).toEqual({ kind: 'idle' });
  }
  const letters = await eager.mailbox.deadLetters(who, 'many');
  expect(letters.length).toBeGreaterThanOrEqual(10);
  expect(letters.length).toBeLessThan(30);
  const numbers = letters.map((letter) => parseInt(letter.content));
  expect(numbers).toEqual(letters.map((_letter, index) => 30 - letters.length + index));
  const handle = (await parts.temporal()).workflow.getHandle(workflowId(parts, who, 'inbox:many'));
  const { events } = await handle.fetchHistory();
  expect(events![0]!.workflowExecutionStartedEventAttributes!.continuedExecutionRunId).toBeTruthy();
});
