/** A wait of an agent, and the end of its worker. */
import { expect, jest, test } from '@jest/globals';
import { STACK_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { join, longWait, messageOf, newPrincipal, once, openMailbox, toOne } from './support.js';

jest.setTimeout(STACK_MS);

test('a message that no agent has acknowledged outlasts the killed worker, and the wait delivers it again', async () => {
  // A stack of its own: its worker is killed.
  const parts = await TestStack.start();
  const server = await openMailbox(parts);
  try {
    const who = newPrincipal();
    const agent = await join(server, who, 'patient');
    const { messageId } = await server.mailbox.send(who, toOne('patient', 'survives'));
    expect(messageOf(await server.mailbox.receive(who, agent, once())).messageId).toBe(messageId);
    await parts.parts[1]!.end('SIGKILL');
    const waiting = server.mailbox.receive(who, agent, longWait({ timeoutMs: 120_000 }));
    parts.worker();
    expect(messageOf(await waiting)).toMatchObject({ messageId, content: 'survives' });
  } finally {
    await server.temporal.close();
    await parts.stop();
  }
});
