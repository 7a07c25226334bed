import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MAILBOX_TOOL_NAMES } from '../../mailbox/tool-names.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { closeAgents, LONG, MAILBOX, revisionsAt, SOON, type Agent, type Connect } from './agents.js';

const revisions = revisionsAt(() => parts.client.url);
const parts = await forAllTests(TestStack.serverOnSharedWorker(MAILBOX));
afterEach(closeAgents);

const named = (role: string) => `${role}-${randomUUID().slice(0, 8)}`;

/** The children of an agent by check_status, by name. */
async function childrenOf(parent: Agent): Promise<Record<string, any>> {
  const { agents } = await parent.call('check_status', { parent: parent.name });
  return Object.fromEntries(agents.map((one: any) => [one.name, one]));
}

/** Three children of a parent, registered and idle. */
async function family(connect: Connect) {
  const parent = await connect(named('parent'));
  await parent.register();
  const [one, two, three] = await Promise.all(['one', 'two', 'three'].map((role) => connect(named(role))));
  const children = [one!, two!, three!];
  const skill = named('review');
  const first = await Promise.all(
    children.map((child, index) =>
      child.register({ parent: parent.name, capabilities: index < 2 ? [skill] : ['other'] }),
    ),
  );
  for (const answer of first) expect(answer).toEqual({ agent_id: expect.any(String), nw: true });
  return { parent, children, one: one!, two: two!, three: three!, skill };
}

describe.each(revisions)('agents that speak %s', (_way, connect) => {
  test('register, get a message, work, respond, are idle, are taken over and ended', async () => {
    const { parent, children, one, two, three, skill } = await family(connect);
    expect(await parent.toolNames()).toEqual(expect.arrayContaining([...MAILBOX_TOOL_NAMES]));
    const states = await childrenOf(parent);
    for (const { name } of children)
      expect(states[name]).toMatchObject({ state: 'waiting', parent: parent.name, queued: 0, type: 'test' });
    expect(await one.text('wait', { agent_id: one.agentId, ...SOON })).toBe('{"nw":true}');

    // A message reaches the one that waits, at once.
    const waiting = one.wait();
    const sent = await parent.call('send_message', {
      agent_id: parent.agentId,
      to: one.name,
      mode: 'challenge',
      content: 'Review this',
      context: { file: 'a.ts' },
    });
    const message = await waiting;
    expect(message).toEqual({
      id: sent.id,
      from: parent.name,
      mode: 'challenge',
      m: 'Review this',
      ctx: { file: 'a.ts' },
    });
    expect((await childrenOf(parent))[one.name]).toMatchObject({ state: 'busy' });

    // The agent uses other tools meanwhile, and responds.
    const worked = await one.result('greet', { name: 'Ada' });
    expect(worked.content).toEqual([expect.objectContaining({ text: expect.stringContaining('Ada') })]);
    expect(await one.respond(message.id, 'Fine')).toEqual({ nw: true });
    expect(await parent.call('check_replies', { message_id: sent.id })).toEqual({
      r: { [one.name]: 'Fine' },
    });

    // Unchanged fields are left out.
    await parent.call('send_message', {
      agent_id: parent.agentId,
      to: one.name,
      mode: 'challenge',
      content: 'And this',
    });
    const second = await one.wait();
    expect(second).toEqual({ id: expect.any(String), m: 'And this' });
    expect(await one.wait({ ack: second.id, ...SOON })).toEqual({ nw: true });

    // Agents with a capability: one gets a message for anyone, all get a message for all.
    const both = [one.wait(), two.wait()];
    const asked = parent.call('send_message', {
      agent_id: parent.agentId,
      capability: skill,
      content: 'Who is free?',
      wait_for_reply: true,
      timeout_seconds: 50,
    });
    const [taker, taken] = await Promise.race([
      both[0]!.then((answer) => [one, answer] as const),
      both[1]!.then((answer) => [two, answer] as const),
    ]);
    expect(taken).toMatchObject({ m: 'Who is free?' });
    const taking = taker.respond(taken.id, 'I am', LONG);
    expect(await asked).toMatchObject({ r: { [taker.name]: 'I am' } });
    const rest = taker === one ? both[1]! : both[0]!;
    const all = await parent.call('send_message', { capability: skill, who: 'all', content: 'Both of you' });
    expect(all.to.toSorted()).toEqual([one.name, two.name].toSorted());
    for (const answer of await Promise.all([taking, rest]))
      expect(answer).toMatchObject({ m: 'Both of you' });
    await Promise.all(
      [one, two].map(async (child) => {
        const { id } = await child.wait(SOON);
        await child.respond(id, child.name);
      }),
    );
    expect(await parent.call('check_replies', { message_id: all.id, wait: 'all', ...LONG })).toEqual({
      r: { [one.name]: one.name, [two.name]: two.name },
    });

    // A takeover: the first wait ends, and its ID is no longer valid.
    const first = one.wait();
    const again = await connect(one.name);
    await again.register({ parent: parent.name });
    expect(again.agentId).not.toBe(one.agentId);
    expect(await first).toEqual({ gone: true });
    expect(await one.wait(SOON)).toEqual({ gone: true });
    expect(await again.wait(SOON)).toEqual({ nw: true });

    // The parent ends the waiting of a child.
    const last = three.wait();
    expect(await parent.call('bye', { agent_name: three.name, agent_id: parent.agentId })).toEqual({
      bye: three.name,
    });
    expect(await last).toEqual({ bye: true });
    await eventually('it is gone', async () => (await childrenOf(parent))[three.name].state === 'gone');
    const { agents } = await parent.call('check_status', { parent: parent.name });
    expect(agents.map(({ name }: any) => name).toSorted()).toEqual(
      children.map(({ name }) => name).toSorted(),
    );
  });
});

describe('an agent', () => {
  const [, connect] = revisions[0]!;

  test('is woken when an operation ends', async () => {
    const agent = await connect(named('worker'));
    await agent.register();
    const started = await agent.result('slow_compute', { seconds: 2, wait: false });
    const { token } = started.structuredContent as { token: string };
    expect(await agent.wait({ also: [token], ...LONG })).toEqual({ ops: { [token]: 'completed' } });
    // An operation that has ended doesn't suppress messages.
    await agent.call('send_message', { to: agent.name, content: 'and now' });
    expect(await agent.wait({ also: [token], ...LONG })).toMatchObject({
      m: 'and now',
      ops: { [token]: 'completed' },
    });
    await agent.refused(
      'wait',
      { agent_id: agent.agentId, also: [token, 'nonesuch'] },
      'not_found',
      /also.*nonesuch/,
    );
  });

  test('that comes back with its ID is the same one', async () => {
    const agent = await connect(named('back'));
    await agent.register();
    const again = await connect(agent.name);
    const answer = await again.register({ agent_id: agent.agentId });
    expect(answer).toEqual({ nw: true });
    expect(await agent.wait(SOON)).toEqual({ nw: true });
  });

  test('has a message in check_inbox as queued once its lease has ended', async () => {
    const agent = await connect(named('slow'));
    await agent.register();
    await agent.call('send_message', { to: agent.name, content: 'slow' });
    await agent.wait({ lease_seconds: 1, ...LONG });
    const messages = await eventually('the lease has ended', async () => {
      const inbox = await agent.call('check_inbox', { agent_name: agent.name });
      return inbox.messages[0].state === 'delivered' ? undefined : inbox.messages;
    });
    expect(messages).toMatchObject([{ m: 'slow', state: 'queued', deliveries: 1 }]);
  });
});
