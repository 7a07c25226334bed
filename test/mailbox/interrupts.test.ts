/** Waits that a person cancels. Each ends at once, and a message that is sent then stays for the next wait. */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { initializeParams, LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { WireClient } from '../support/mcp.js';
import { StdioServers, type StdioProcess } from '../support/stdio-servers.js';
import { TestStack } from '../support/test-stack.js';
import { closeAgents, currentAgent, LONG, MAILBOX, SOON, type Agent } from './agents.js';

// A stack of its own: all callers without authentication share the mailbox of a task queue.
const stdio = await forAllTests(StdioServers.open(await TestStack.start(MAILBOX)));
afterEach(closeAgents);

const newName = () => `child-${randomUUID().slice(0, 8)}`;

/** Sends a message, checks that no wait has taken it, and receives it with a new wait as its first delivery. */
async function expectNobodyWaits(agent: Agent): Promise<void> {
  const { id } = await agent.call('send_message', { to: agent.name, content: 'still there?' });
  const { messages } = await agent.call('check_inbox', { agent_name: agent.name });
  expect(messages).toEqual([expect.objectContaining({ id, m: 'still there?', state: 'queued' })]);
  const taken = await agent.wait();
  expect(taken).toMatchObject({ id, m: 'still there?' });
  expect(taken).not.toHaveProperty('again');
}

describe('on the wire', () => {
  /** An agent that observes, and the arguments of its wait. */
  async function looker() {
    const agent = await currentAgent(newName(), stdio.parts.client.url);
    await agent.register();
    return { agent, params: { name: 'wait', arguments: { agent_id: agent.agentId, ...LONG } } };
  }

  test('2026-07-28 over HTTP: a closed connection ends the wait', async () => {
    const { agent, params } = await looker();
    const client = new WireClient(stdio.parts.client.url, {});
    const person = new AbortController();
    const response = client.post(
      JSON.stringify(client.envelope('tools/call', params)),
      client.headers('tools/call', params),
      person.signal,
    );
    const isCut = expect(response).rejects.toThrow();
    await agent.call('check_status');
    person.abort();
    await isCut;
    await expectNobodyWaits(agent);
  });

  test('2025-11-25 over HTTP: notifications/cancelled in another POST ends the wait and its stream', async () => {
    const { agent, params } = await looker();
    const client = await LegacyClient.open(stdio.parts.client.url);
    const message = client.message('tools/call', params);
    const stream = await client.stream(message);
    await client.post({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: message.id, reason: 'the person wants something else' },
    });
    await stream.ended;
    expect(stream.messages()).toEqual([]);
    // Clients reconnect to a stream that ended without a result; this one is finished.
    const back = await client.listen(stream.events.at(-1)!.id);
    expect(back.response.status).toBe(405);
    await expectNobodyWaits(agent);
  });

  test('2025-11-25 over HTTP: so does one for a wait that was taken up again', async () => {
    const { agent, params } = await looker();
    const client = await LegacyClient.open(stdio.parts.client.url);
    const message = client.message('tools/call', params);
    const first = await client.stream(message);
    const id = await eventually('it has an event ID', () => first.events.findLast((event) => event.id)?.id);
    first.close();
    const stream = await client.listen(id);
    await eventually('it has an event ID again', () => stream.events.at(-1)?.id);
    await client.post({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: message.id },
    });
    await stream.ended;
    expect((await client.listen(stream.events.at(-1)!.id)).response.status).toBe(405);
    await expectNobodyWaits(agent);
  });

  test('2025-11-25 over HTTP: a closed connection ends the wait, which its last event ID takes up again', async () => {
    const { agent, params } = await looker();
    const client = await LegacyClient.open(stdio.parts.client.url);
    const message = client.message('tools/call', params);
    const stream = await client.stream(message);
    const id = await eventually('it has an event ID', () => stream.events.findLast((event) => event.id)?.id);
    stream.close();
    await stream.ended;
    await expectNobodyWaits(agent);
    const resumed = await client.listen(id);
    await resumed.ended;
    const [answer] = resumed.messages();
    expect(answer).toMatchObject({ id: message.id });
    expect(JSON.parse(answer.result.content[0].text)).toMatchObject({ m: 'still there?', again: 1 });
  });
});

describe('over stdio', () => {
  let run: StdioProcess;
  afterEach(() => run.end());

  const send = (message: object) => run.send(message);
  const answerTo = (id: string) =>
    eventually(`an answer to ${id}`, () => run.messages().find((one) => one.id === id));
  const textOf = (answer: any) => JSON.parse(answer.result.content[0].text);

  test.each(['2026-07-28', '2025-11-25'])(
    '%s: notifications/cancelled ends the wait, and a server that stops asks waiting agents to call again',
    async (version) => {
      run = stdio.run();
      const client = new WireClient('', {});
      if (version === '2025-11-25') {
        send({ jsonrpc: '2.0', id: 'i', method: 'initialize', params: initializeParams(version) });
        await answerTo('i');
        send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      }
      const call = (id: string, name: string, args: object) => {
        const params = { name, arguments: args };
        const message =
          version === '2026-07-28'
            ? client.envelope('tools/call', params)
            : { jsonrpc: '2.0', method: 'tools/call', params };
        send({ ...message, id });
      };
      const agent_name = newName();
      call('r', 'register_and_wait', { agent_name, agent_type: 'test', ...SOON });
      const { agent_id } = textOf(await answerTo('r'));
      call('w', 'wait', { agent_id, ...LONG });
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w' } });
      call('s', 'send_message', { to: agent_name, content: 'still there?' });
      const { id } = textOf(await answerTo('s'));
      call('l', 'check_inbox', { agent_name });
      expect(textOf(await answerTo('l')).messages).toEqual([
        expect.objectContaining({ id, state: 'queued' }),
      ]);
      call('v', 'wait', { agent_id, ...LONG });
      const taken = textOf(await answerTo('v'));
      expect(taken).toMatchObject({ id, m: 'still there?' });
      expect(taken).not.toHaveProperty('again');

      call('x', 'wait', { agent_id, ack: id, ...LONG });
      call('y', 'check_status', {});
      await answerTo('y');
      run.process.kill('SIGTERM');
      expect(textOf(await answerTo('x'))).toEqual({ nw: true, again: 1 });
      expect(run.stdout()).not.toContain('"id":"w"');

      // The process has ended, and the agent shows as away, once the worker has taken the signal.
      const observer = new WireClient(stdio.parts.client.url, {});
      await run.ended;
      await eventually('the agent is away', async () => {
        const status = await observer.call('check_status', {});
        return textOf(status).agents.find(({ name }: any) => name === agent_name).state === 'away';
      });
    },
  );
});
