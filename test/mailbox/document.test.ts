/** Promises to long-polling agents, by statement: docs/agents.md describes it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { call, textOf } from '../plain/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { LONG, MAILBOX, SOON } from './agents.js';

jest.setTimeout(PROCESSES_MS);

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.serverOnSharedWorker(MAILBOX);
});
afterAll(() => parts?.stop());

const mail = async (name: string, args: object): Promise<any> =>
  JSON.parse(textOf(await call(parts.client.with({}), name, args)));
const send = (to: string, content: string, more: object = {}) =>
  mail('send_message', { to, content, from: 'parent', mode: 'challenge', ...more });

interface Child {
  agent_name: string;
  agent_id: string;
}

async function register(args: object = SOON): Promise<Child & Record<string, any>> {
  const agent_name = `child-${randomUUID().slice(0, 8)}`;
  const own = { agent_name, agent_type: 'claude-code', capabilities: ['review'] };
  return { agent_name, ...(await mail('register_and_wait', { ...own, ...args })) };
}

describe('register_and_wait', () => {
  test('returns no work and an agent_id at its time-out', async () => {
    const { agent_name, ...answer } = await register();
    expect(answer).toEqual({ agent_id: expect.stringContaining(agent_name), nw: true });
  });

  test('returns when a message arrives for this agent, with its sender, mode, content and context', async () => {
    const agent_name = `child-${randomUUID().slice(0, 8)}`;
    const waiting = mail('register_and_wait', { agent_name, agent_type: 'codex', ...LONG });
    await send(agent_name, 'Review this code...', { context: { file: 'a.ts' } });
    expect(await waiting).toMatchObject({
      agent_id: expect.any(String),
      from: 'parent',
      mode: 'challenge',
      m: 'Review this code...',
      ctx: { file: 'a.ts' },
    });
  });
});

describe('an agent', () => {
  test('that is idle gets {"nw":true} and nothing else from each wait, without being prompted', async () => {
    const { agent_id } = await register();
    for (let wait = 0; wait < 3; wait += 1)
      expect(await mail('wait', { agent_id, ...SOON })).toEqual({ nw: true });
  });

  test('gets what was sent while it was not waiting', async () => {
    const { agent_name, agent_id } = await register();
    await send(agent_name, 'kept');
    expect(await mail('wait', { agent_id, ...LONG })).toMatchObject({ m: 'kept' });
  });

  test('may call other tools while it works on a message, and then waits again', async () => {
    const { agent_name, agent_id } = await register();
    await send(agent_name, 'work');
    const { id } = await mail('wait', { agent_id, ...LONG });
    const worked = await call(parts.client.with({}), 'greet', { name: 'Ada' });
    expect(textOf(worked)).toBe('Hello, Ada!');
    await mail('report_progress', { agent_id, message_id: id, text: 'half done' });
    const respond = { agent_id, response_to: id, response: 'done', ...SOON };
    expect(await mail('respond_and_wait', respond)).toEqual({ nw: true });
  });

  test('responds and waits for the next message by one call, respond_and_wait', async () => {
    const { agent_name, agent_id } = await register();
    const [first] = [await send(agent_name, 'first'), await send(agent_name, 'second')];
    const { id } = await mail('wait', { agent_id, ...LONG });
    const next = await mail('respond_and_wait', { agent_id, response_to: id, response: 'done', ...LONG });
    expect(next).toMatchObject({ m: 'second' });
    expect(await mail('check_replies', { message_id: first.id })).toMatchObject({
      r: { [agent_name]: 'done' },
    });
  });
});

test('several children wait at the same time, and each gets its own message', async () => {
  const children = await Promise.all([1, 2, 3].map(() => register()));
  const waits = children.map(({ agent_id }) => mail('wait', { agent_id, ...LONG }));
  for (const { agent_name } of children) await send(agent_name, `for ${agent_name}`);
  expect(await Promise.all(waits)).toMatchObject(
    children.map(({ agent_name }) => ({ m: `for ${agent_name}` })),
  );
});

test('two overlapping waits of one child do not both get a message', async () => {
  const { agent_name, agent_id } = await register();
  const waits = [1, 2].map(() => mail('wait', { agent_id, timeout_seconds: 3 }));
  await send(agent_name, 'once', { max_deliveries: 1 });
  const answers = await Promise.all(waits);
  expect(answers.filter(({ m }) => m === 'once')).toHaveLength(1);
  expect(answers.filter(({ nw }) => nw)).toHaveLength(1);
  const { id } = answers.find(({ m }) => m === 'once');
  await mail('respond_and_wait', { agent_id, response_to: id, response: 'done', ...SOON });
  expect(await mail('dead_letters', { agent_name })).toEqual({ messages: [] });
});

test('check_inbox distinguishes a message whose lease has ended from one that its child has', async () => {
  const { agent_name, agent_id } = await register();
  await send(agent_name, 'slow');
  await mail('wait', { agent_id, lease_seconds: 1, ...LONG });
  const ended = await eventually('the lease has ended', async () => {
    const { messages } = await mail('check_inbox', { agent_name });
    return messages[0].state === 'delivered' ? undefined : messages;
  });
  expect(ended).toMatchObject([{ m: 'slow', state: 'queued', deliveries: 1 }]);
});
