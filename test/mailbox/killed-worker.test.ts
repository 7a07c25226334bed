/** A wait of an agent, and the end of its worker. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { MAILBOX_MEMO, takeUpdate } from '../../mailbox/wire.js';
import { STACK_MS } from '../support/limits.js';
import { TestStack, type Part } from '../support/test-stack.js';
import {
  join,
  longWait,
  messageOf,
  newPrincipal,
  once,
  openMailbox,
  toOne,
  workflowId,
  type MailboxProcess,
} from './support.js';

jest.setTimeout(STACK_MS);

let parts: TestStack;
let worker: Part;
let server: MailboxProcess;
beforeAll(async () => {
  // A stack of its own: its worker is killed.
  parts = await TestStack.start();
  worker = parts.parts[1]!;
  server = await openMailbox(parts);
}, STACK_MS);
afterAll(async () => {
  await server?.temporal.close();
  await parts?.stop();
});

test('a message that no agent has acknowledged outlasts the killed worker, and the wait delivers it again', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'patient');
  const { messageId } = await server.mailbox.send(who, toOne('patient', 'survives'));
  expect(messageOf(await server.mailbox.receive(who, agent, once())).messageId).toBe(messageId);
  await worker.end('SIGKILL');
  const waiting = server.mailbox.receive(who, agent, longWait({ timeoutMs: 120_000 }));
  worker = parts.worker();
  expect(messageOf(await waiting)).toMatchObject({ messageId, content: 'survives' });
});

test('waits that gave up while no worker ran count as one delivery', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'patient');
  const { messageId } = await server.mailbox.send(who, { ...toOne('patient', 'once'), maxDeliveries: 3 });
  const temporal = await parts.temporal();
  const inbox = temporal.workflow.getHandle(workflowId(parts, who, 'inbox:patient'));
  await worker.end('SIGKILL');
  const { epoch } = (await inbox.describe()).memo![MAILBOX_MEMO] as { epoch: number };
  // Waits leave updates behind whose callers are gone.
  const given = await Promise.allSettled(
    Array.from({ length: 6 }, () =>
      temporal.connection.withDeadline(Date.now() + 2_000, () =>
        inbox.executeUpdate(takeUpdate, { args: [{ epoch, leaseMs: 1_000, after: 0 }] }),
      ),
    ),
  );
  expect(given.map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
  worker = parts.worker();
  const received = messageOf(await server.mailbox.receive(who, agent, longWait({ timeoutMs: 120_000 })));
  expect(received).toMatchObject({ messageId, content: 'once' });
  expect(received.delivery).toBeLessThanOrEqual(2);
});
