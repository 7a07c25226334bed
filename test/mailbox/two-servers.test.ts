import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { TwoServers } from '../proxy/support.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { closeAgents, LONG, MAILBOX, revisionsAt } from './agents.js';

// A stack of its own: its servers are killed.
const two = await forAllTests(TwoServers.start(MAILBOX));
afterEach(closeAgents);

const newName = () => `child-${randomUUID().slice(0, 8)}`;
const revisions = revisionsAt(() => two.proxy.url);

/** The port of the server that holds a wait with this text. */
const serving = async (text: string) =>
  (await eventually(`a server holds the wait of ${text}`, () => two.proxy.open(text))).port;

describe.each(revisions)('a wait of %s', (_revision, connect) => {
  test('is asked to call again when its server stops, and gets its message at the other', async () => {
    const agent = await connect(newName());
    await agent.register();
    const waiting = agent.wait();
    const port = await serving(agent.agentId);
    await two.end(port);
    expect(await waiting).toEqual({ nw: true, again: 1 });
    const again = agent.wait();
    await serving(agent.agentId);
    await agent.call('send_message', { to: agent.name, content: 'welcome back' });
    expect(await again).toMatchObject({ m: 'welcome back' });
    await two.restart(port);
  });
});

test('a wait loses no message when its server is killed with the message on its way', async () => {
  const [, connect] = revisions[0]!;
  const agent = await connect(newName());
  const other = await connect(newName());
  await agent.register();
  const contents = Array.from({ length: 6 }, (_, index) => `message ${index}`);
  const got: string[] = [];
  const known = new Set<string>();
  const take = async () => {
    let ack: { ack?: string } = {};
    while (got.length < contents.length) {
      // A client whose connection breaks repeats the call.
      const answer = await agent.wait({ ...ack, timeout_seconds: 20 }).catch(() => undefined);
      if (answer?.id === undefined) continue;
      if (!known.has(answer.id)) got.push(answer.m);
      known.add(answer.id);
      ack = { ack: answer.id };
    }
  };
  const taking = take();
  for (const [index, content] of contents.entries()) {
    const key = { idempotency_key: `${agent.name} ${index}` };
    const port = index % 2 ? await serving(agent.agentId) : undefined;
    const sent = eventually('it is sent', () =>
      other.call('send_message', { from: 'sender', to: agent.name, content, ...key }).catch(() => undefined),
    );
    if (port !== undefined) await two.kill(port);
    await sent;
    if (port !== undefined) await two.restart(port);
  }
  await taking;
  expect(got).toEqual(contents);
});

test('a registration whose stream breaks off continues at the other server, which reports its ID', async () => {
  const [, connect] = revisions[1]!;
  const agent = await connect(newName());
  const registering = agent.register(LONG);
  const port = await serving(agent.name);
  await eventually('it is registered', async () => {
    const { agents } = await agent.call('check_status');
    return agents.some(({ name }: any) => name === agent.name);
  });
  await two.kill(port);
  await agent.call('send_message', { to: agent.name, content: 'first work' });
  expect(await registering).toMatchObject({ agent_id: expect.any(String), m: 'first work' });
  await two.restart(port);
  expect(await agent.wait({ timeout_seconds: 5 })).toMatchObject({ m: 'first work', again: 1 });
});
