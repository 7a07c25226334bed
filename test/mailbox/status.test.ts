/** Status of agents: waiting, away and gone, and pages of many. */
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import {
  join,
  messageOf,
  once,
  longWait,
  newPrincipal,
  workflowId,
  type MailboxProcess,
  MailboxStack,
} from './support.js';

const AWAY_AFTER_MS = 1_000;

const stack = await forAllTests(MailboxStack.start({ awayAfterMs: AWAY_AFTER_MS }));
const { parts, server, other } = stack;

/** Opens a wait that lasts until the result's `end` is called. */
function openWait({ mailbox }: MailboxProcess, who: string, agent: string) {
  const ending = new AbortController();
  const waiting = mailbox.receive(who, agent, longWait({ signal: ending.signal }));
  waiting.catch(() => undefined);
  return {
    end: async () => {
      ending.abort();
      return waiting;
    },
  };
}

async function eventsOf(who: string, name: string): Promise<number> {
  const handle = (await parts.temporal()).workflow.getHandle(workflowId(parts, who, `inbox:${name}`));
  return (await handle.describe()).historyLength;
}

/** Longer than the maximum time between two waits, so that any signal about it is in history. */
const awhile = () => new Promise((settle) => setTimeout(settle, 3 * AWAY_AFTER_MS));

test('an agent whose last wait has ended is away, since then, until it waits again', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'leaver');
  const statusOf = async () => (await other.mailbox.status(who)).agents[0]!;
  const registered = await eventsOf(who, 'leaver');
  const wait = openWait(server, who, agent);
  await awhile();
  expect((await statusOf()).state).toBe('waiting');
  expect(await eventsOf(who, 'leaver')).toBe(registered);
  expect(await wait.end()).toEqual({ kind: 'aborted' });
  const leftAt = Date.now();
  await eventually('it is away', async () => (await statusOf()).state === 'away');
  expect(Math.abs(Date.parse((await statusOf()).lastSeenAt) - leftAt)).toBeLessThan(AWAY_AFTER_MS);
  // One signal.
  expect((await eventsOf(who, 'leaver')) - registered).toBeLessThanOrEqual(5);
  await server.mailbox.send(who, { to: { names: ['leaver'] }, content: 'kept', mode: 'm' });
  expect((await statusOf()).state).toBe('away');
  const { messageId } = messageOf(await server.mailbox.receive(who, agent, once()));
  await server.mailbox.respond(who, agent, messageId, 'back');
  expect((await statusOf()).state).toBe('waiting');
  await eventually('it is away again', async () => {
    await server.mailbox.receive(who, agent, once());
    await awhile();
    return (await statusOf()).state === 'away';
  });
  const back = openWait(other, who, agent);
  await eventually('it waits again', async () => (await statusOf()).state === 'waiting');
  await back.end();
});

test('an agent that is busy is not away, and one whose waits come to several servers is not taken for it', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'roamer');
  const state = async () => (await other.mailbox.status(who)).agents[0]!.state;
  await server.mailbox.send(who, { to: { names: ['roamer'] }, content: 'x', mode: 'm' });
  const { messageId } = messageOf(await server.mailbox.receive(who, agent, once()));
  await awhile();
  expect(await state()).toBe('busy');
  await server.mailbox.respond(who, agent, messageId, 'done');
  // From here on waits alternate between the servers.
  await (await openWaits([server, other], 1)).end();
  await eventually('its servers know', async () => {
    await (await openWaits([server, other], 2)).end();
    const { isRoaming } = (await memoOf(who, 'roamer')) as { isRoaming?: true };
    return isRoaming;
  });
  const known = await eventsOf(who, 'roamer');
  await (await openWaits([server, other], 4)).end();
  expect(await state()).toBe('waiting');
  expect(await eventsOf(who, 'roamer')).toBe(known);

  async function openWaits(servers: MailboxProcess[], count: number) {
    let wait = openWait(servers[0]!, who, agent);
    for (let index = 1; index <= count; index += 1) {
      const before = wait;
      wait = openWait(servers[index % 2]!, who, agent);
      await before.end();
      await awhile();
    }
    return wait;
  }
});

async function memoOf(who: string, name: string): Promise<unknown> {
  const handle = (await parts.temporal()).workflow.getHandle(workflowId(parts, who, `inbox:${name}`));
  return (await handle.describe()).memo!['mailbox'];
}

test('the status comes in pages, by name, and agents that come meanwhile shift none', async () => {
  const who = newPrincipal();
  const { mailbox } = server;
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const name of names) await join(server, who, name, { parent: name < 'f' ? 'p' : 'q' });
  const seen: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await mailbox.status(who, {
      limit: 2,
      parent: 'p',
      ...(cursor === undefined ? {} : { cursor }),
    });
    expect(page.agents.length).toBeLessThanOrEqual(2);
    seen.push(...page.agents.map(({ name }) => name));
    cursor = page.nextCursor;
    pages += 1;
    if (pages === 1) await join(server, who, 'aa', { parent: 'p' });
  } while (cursor !== undefined);
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(pages).toBe(3);
  expect((await mailbox.status(who)).nextCursor).toBeUndefined();
  for (const [options, message] of [
    [{ limit: 0 }, 'limit: expected a whole number from 1 to 500; got 0'],
    [{ limit: 501 }, 'limit: expected'],
    [{ cursor: '' }, 'cursor: expected next_cursor of the previous page; got ""'],
    [{ parent: 'two words' }, 'parent: expected'],
  ] as const)
    await expect(mailbox.status(who, options)).rejects.toMatchObject({
      kind: 'invalid_arguments',
      message: expect.stringContaining(message),
    });
});
