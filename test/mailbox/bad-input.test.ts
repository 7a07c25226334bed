import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MAILBOX_TOOL_NAMES } from '../../mailbox/tool-names.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { TASKS_AND_FORMS } from '../support/mcp.js';
import { answers } from '../support/service.js';
import { TestStack } from '../support/test-stack.js';
import { closeAgents, currentAgent, MAILBOX, SOON, type Agent } from './agents.js';

const parts = await forAllTests(TestStack.serverOnSharedWorker(MAILBOX));
afterEach(closeAgents);

const newName = () => `agent-${randomUUID().slice(0, 8)}`;

async function agent(): Promise<Agent> {
  const one = await currentAgent(newName(), parts.client.url);
  await one.register();
  return one;
}

describe('refused, with what was expected and what came', () => {
  test('arguments that no tool takes', async () => {
    const [one, other] = [await agent(), await agent()];
    const registration = { agent_name: newName(), agent_type: 'test', ...SOON };
    const timeout = /arguments\.timeout_seconds: expected .*; got /;
    const rows: [tool: string, args: object, message: RegExp][] = [
      ['wait', { agent_id: one.agentId, timeout_seconds: 0 }, timeout],
      ['register_and_wait', { ...registration, timeout_seconds: '30' }, timeout],
      [
        'wait',
        { agent_id: one.agentId, lease_seconds: 86_401 },
        /lease_seconds: expected 1 to 86400; got 86401/,
      ],
      ['register_and_wait', { ...registration, agent_name: 'a\nb' }, /agent_name: expected 1 to 64 letters/],
      [
        'register_and_wait',
        { ...registration, agent_name: one.name, agent_id: other.agentId },
        /agent_id: expected an ID of/,
      ],
      ['send_message', { to: '../up', content: 'x' }, /to: expected 1 to 64 letters/],
      ['send_message', { content: 'x', too: 'y' }, /too/],
      ['send_message', { content: 5 }, /content/],
      ['send_message', { to: one.name, content: '' }, /content: expected/],
      ['bye', { agent_name: other.name }, /agent_id: expected yours/],
      ['dead_letters', { action: 'drop' }, /message_id: expected/],
      ['dead_letters', {}, /agent_name: expected/],
    ];
    for (const [tool, args, message] of rows) await one.refused(tool, args, 'invalid_arguments', message);
  });

  test('a response to no message, to a message of another, and a second, other response', async () => {
    const [one, other] = [await agent(), await agent()];
    await one.call('send_message', { to: one.name, content: 'yours' });
    const { id } = await one.wait();
    const respond = (agent_id: string, response_to: string, response: string) =>
      [{ agent_id, response_to, response, ...SOON }] as const;
    await one.refused('respond_and_wait', ...respond(one.agentId, 'nonesuch', 'r'), 'not_found', /message/);
    await one.refused('respond_and_wait', ...respond(other.agentId, id, 'r'), 'not_found', /message/);
    expect(await one.respond(id, 'once')).toEqual({ nw: true });
    // A client whose response was lost repeats the call.
    expect(await one.respond(id, 'once')).toEqual({ nw: true });
    await one.refused('respond_and_wait', ...respond(one.agentId, id, 'twice'), 'wrong_state', /respon/);
    expect(await one.call('check_replies', { message_id: id })).toEqual({ r: { [one.name]: 'once' } });
  });

  test('a message for all that no agent matches, an unknown message, and a bye to an agent that is no child', async () => {
    const [one, other] = [await agent(), await agent()];
    await one.refused('send_message', { capability: newName(), who: 'all', content: 'x' }, 'not_found', /./);
    await one.refused('check_replies', { message_id: 'nonesuch' }, 'not_found', /message/);
    await one.refused('bye', { agent_name: other.name, agent_id: one.agentId }, 'wrong_state', /./);
    expect(await other.call('bye', { agent_id: other.agentId })).toEqual({ bye: other.name });
  });

  test('a dead letter that another agent, or a caller without an ID, wants to drop', async () => {
    const [one, other] = [await agent(), await agent()];
    const poison = { to: one.name, content: 'poison', max_deliveries: 1 };
    const { id } = await other.call('send_message', { ...poison, agent_id: other.agentId });
    expect(await one.wait()).toMatchObject({ m: 'poison' });
    expect(await one.wait(SOON)).toEqual({ nw: true });
    expect(await other.call('check_replies', { message_id: id })).toEqual({
      state: { [one.name]: 'dead_lettered' },
      deliveries: { [one.name]: 1 },
    });
    const third = await agent();
    const drop = { action: 'drop', message_id: id };
    await one.refused('dead_letters', drop, 'invalid_arguments', /agent_id: expected yours; got nothing/);
    await one.refused('dead_letters', { ...drop, agent_id: third.agentId }, 'wrong_state', /agent_id/);
    expect(await third.call('dead_letters', { agent_name: one.name })).toMatchObject({
      messages: [{ id, from: other.name, m: 'poison', deliveries: 1, dead: expect.any(String) }],
    });
  });
});

describe('the tools', () => {
  const namesIn = (answer: any): string[] => answer.result.tools.map(({ name }: any) => name);

  test('are listed and can be called only where the mailbox is switched on', async () => {
    const port = await freePort();
    parts.server({ LONGHAUL_PORT: String(port), LONGHAUL_MAILBOX: '' });
    const url = `http://127.0.0.1:${port}/mcp`;
    await eventually('the other server is ready', () => answers(url.replace('/mcp', '/readyz')));
    const current = parts.client.with({});
    const listed = [
      namesIn(await current.request('tools/list')),
      namesIn(await current.with(TASKS_AND_FORMS).request('tools/list')),
      namesIn(await (await LegacyClient.open(parts.client.url)).request('tools/list')),
    ];
    for (const names of listed) expect(names).toEqual(expect.arrayContaining([...MAILBOX_TOOL_NAMES]));
    const older = await LegacyClient.open(url);
    expect(namesIn(await older.request('tools/list')).filter((name) => isOfMailbox(name))).toEqual([]);
    expect((await older.call('check_status')).error).toMatchObject({
      message: expect.stringContaining('unknown tool "check_status"'),
    });
  });

  test('of a project with one of their names are refused where it is switched on', async () => {
    const project = temporaryFolder('mailbox');
    mkdirSync(join(project, 'pipelines'));
    writeFileSync(
      join(project, 'pipelines', 'wait.yml'),
      'name: wait\njobs:\n  one:\n    steps:\n      - { name: A, run: "true" }\n',
    );
    const port = await freePort();
    const server = parts.server({
      LONGHAUL_PORT: String(port),
      LONGHAUL_PROJECT: project,
      LONGHAUL_PIPELINE_FOLDERS: join(project, 'pipelines'),
    });
    await eventually('it says so', () => server.output().includes('the mailbox has a tool of this name'));
  });
});

function isOfMailbox(name: string): boolean {
  return (MAILBOX_TOOL_NAMES as readonly string[]).includes(name);
}
