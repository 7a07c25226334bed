/** Limits of messages and inboxes, and refused arguments. */
import { describe, expect, test } from '@jest/globals';
import { CONTENT_LIMIT_BYTES, INBOX_LIMIT } from '../../mailbox/limits.js';
import { forAllTests } from '../support/for-all-tests.js';
import { join, messageOf, once, newPrincipal, toOne, workflowId, MailboxStack } from './support.js';

const stack = await forAllTests(MailboxStack.start());
const { parts, server, other } = stack;

test('sizes are counted in bytes of UTF-8, and an empty content or response is refused', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'sized');
  // In JSON each of these takes two bytes.
  const largest = '"\n'.repeat(CONTENT_LIMIT_BYTES).slice(0, CONTENT_LIMIT_BYTES);
  const { messageId } = await server.mailbox.send(who, toOne('sized', largest));
  expect(messageOf(await server.mailbox.receive(who, agent, once())).content).toBe(largest);
  await server.mailbox.respond(who, agent, messageId, 'ä'.repeat(CONTENT_LIMIT_BYTES / 2));
  for (const [large, bytes] of [
    [`${largest}x`, CONTENT_LIMIT_BYTES + 1],
    ['ä'.repeat(CONTENT_LIMIT_BYTES / 2 + 1), CONTENT_LIMIT_BYTES + 2],
    ['💥'.repeat(CONTENT_LIMIT_BYTES / 4 + 1), CONTENT_LIMIT_BYTES + 4],
    // Half a surrogate pair is replaced by a character of three bytes.
    ['\ud800'.repeat(CONTENT_LIMIT_BYTES / 3 + 1), CONTENT_LIMIT_BYTES + 2],
  ] as const)
    await expect(server.mailbox.send(who, toOne('sized', large))).rejects.toMatchObject({
      kind: 'too_large',
      message: `content: expected at most ${CONTENT_LIMIT_BYTES} bytes; got ${bytes}`,
    });
  await expect(server.mailbox.send(who, toOne('sized', ''))).rejects.toMatchObject({
    kind: 'invalid_arguments',
    message: 'content: expected a text that is not empty; got ""',
  });
  await expect(server.mailbox.respond(who, agent, messageId, '')).rejects.toMatchObject({
    kind: 'invalid_arguments',
    message: 'response: expected a text that is not empty; got ""',
  });
});

test('large contents travel by reference, and nothing of them is in history', async () => {
  const who = newPrincipal();
  const content = 'ä"\n'.repeat(30_000);
  const context = { list: 'x'.repeat(20_000) };
  const agent = await join(server, who, 'large');
  const { messageId } = await server.mailbox.send(who, { ...toOne('large', content), context });
  expect(messageOf(await other.mailbox.receive(who, agent, once()))).toMatchObject({ content, context });
  await other.mailbox.respond(who, agent, messageId, content);
  expect(await server.mailbox.replies(who, messageId)).toMatchObject([{ response: content }]);
  const temporal = await parts.temporal();
  const { historySize } = await temporal.workflow.getHandle(workflowId(parts, who, 'inbox:large')).describe();
  expect(historySize).toBeLessThan(20_000);
});

test('a full inbox refuses its senders, and takes more once a message is done', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'full');
  const fill = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => server.mailbox.send(who, toOne('full', `${index}`))),
    );
  await fill(INBOX_LIMIT);
  await expect(fill(1)).rejects.toMatchObject({
    kind: 'wrong_state',
    retryable: true,
    message: expect.stringMatching(/inbox of "full" is full: 100 messages/),
  });
  const { messageId } = messageOf(await server.mailbox.receive(who, agent, once()));
  await server.mailbox.respond(who, agent, messageId, 'ok');
  await fill(1);
  expect(await server.mailbox.peek(who, 'full')).toHaveLength(INBOX_LIMIT);
  const several = { to: { names: ['full', 'roomy'] }, content: 'x', mode: 'task' };
  expect(await server.mailbox.send(who, several)).toMatchObject({
    recipients: ['roomy'],
    refused: [{ name: 'full', why: expect.stringContaining('full') }],
  });
});

describe('bad input is refused with what was expected', () => {
  const bad: [string, object, string, string][] = [
    ['odd characters', { to: { names: ['a', 'b/../c'] } }, 'invalid_arguments', 'to[1]: expected'],
    ['control characters', { mode: 'a\nb' }, 'invalid_arguments', 'mode: expected'],
    ['no recipients', { to: { names: [] } }, 'invalid_arguments', 'to: expected 1 to 100 names'],
    ['a time to live of nothing', { ttlSeconds: 0 }, 'invalid_arguments', 'ttl_seconds: expected 1 to'],
    ['an unknown sender', { from: { agentId: 'a.b.c' } }, 'not_found', 'agent_id'],
  ];
  test.each(bad)('%s', async (_what, change, kind, message) => {
    const sending = server.mailbox.send(newPrincipal(), { ...toOne('a', 'x'), ...change });
    await expect(sending).rejects.toMatchObject({ kind, message: expect.stringContaining(message) });
  });

  test('unknown agents and messages', async () => {
    const who = newPrincipal();
    const agent = await join(server, who, 'known');
    const elsewhere = await join(server, newPrincipal(), 'known');
    for (const wrong of ['', 'known', elsewhere, agent.replace('known', 'other')])
      await expect(server.mailbox.receive(who, wrong, once())).rejects.toMatchObject({ kind: 'not_found' });
    for (const wrong of ['', 'nothing', 'known~000000000000', '~000000000000', 'nobody~000000000000']) {
      await expect(server.mailbox.respond(who, agent, wrong, 'x')).rejects.toMatchObject({
        kind: 'not_found',
      });
      await expect(server.mailbox.replies(who, wrong)).rejects.toMatchObject({ kind: 'not_found' });
    }
    await expect(server.mailbox.bye(who, 'nobody')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(server.mailbox.peek(who, 'nobody')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(join(server, who, 'loop', { parent: 'loop' })).rejects.toMatchObject({
      kind: 'invalid_arguments',
    });
    await expect(server.mailbox.receive(who, agent, once({ leaseSeconds: 0 }))).rejects.toMatchObject({
      kind: 'invalid_arguments',
    });
  });
});
