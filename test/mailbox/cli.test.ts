import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { documents, run, start } from '../cli/commands.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { closeAgents, currentAgent, LONG, MAILBOX, SOON, type Agent } from './agents.js';

const parts = await forAllTests(TestStack.serverOnSharedWorker(MAILBOX));
afterEach(closeAgents);

async function agent(args: object = {}): Promise<Agent> {
  const one = await currentAgent(`agent-${randomUUID().slice(0, 8)}`, parts.client.url);
  await one.register(args);
  return one;
}

test('agents lists the waiting agents', async () => {
  const one = await agent({ capabilities: ['review', 'test'], parent: 'lead' });
  const { code, stdout } = await run(parts, ['agents']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^NAME +TYPE +STATE +QUEUED +CAPABILITIES +PARENT +SEEN$/m);
  expect(stdout).toMatch(new RegExp(`^${one.name} +test +waiting +0 +review, test +lead +20\\S+Z$`, 'm'));
  const [status] = documents<any>(await run(parts, ['agents', '--parent', 'lead', '--json']));
  expect(status.agents).toEqual([expect.objectContaining({ name: one.name, parent: 'lead' })]);
});

test('send brings a message to an agent, and waits for its response', async () => {
  const one = await agent();
  const waiting = one.wait();
  const sending = start(parts, ['send', 'Is it\nwell?', '--to', one.name, '--from', 'ada', '--wait']);
  const message = await waiting;
  expect(message).toMatchObject({ from: 'ada', mode: 'task', m: 'Is it\nwell?' });
  await one.respond(message.id, 'It is');
  expect(await sending.ended).toMatchObject({ code: 0, stdout: `${one.name}: It is\n` });

  const context = ['--mode', 'note', '--context', '{"a":1}'];
  const { stdout } = await run(parts, ['send', '-', '--to', one.name, ...context], { input: 'from a file' });
  expect(await one.wait()).toMatchObject({
    id: stdout.trim(),
    mode: 'note',
    m: 'from a file',
    ctx: { a: 1 },
  });
  const unanswered = ['send', 'x', '--to', one.name, '--wait', 'any', '--timeout', '1'];
  expect(await run(parts, unanswered)).toMatchObject({ code: 7, stdout: '' });
});

test('inbox shows the messages and takes none; with --follow each as it comes', async () => {
  const one = await agent();
  expect((await run(parts, ['inbox', one.name])).stdout).toBe('No messages.\n');
  await one.call('send_message', { to: one.name, from: 'ada', content: 'first \u001b[31mline' });
  const { stdout } = await run(parts, ['inbox', one.name]);
  expect(stdout).toMatch(/^20\S+Z \S+ \(task, queued\) from ada\n {2}first /);
  const following = start(parts, ['inbox', one.name, '--follow', '--json']);
  await eventually('it shows what is there', () => following.stdout.includes('first'));
  await one.call('send_message', { to: one.name, content: 'second' });
  await eventually('it shows what comes', () => following.stdout.includes('second'));
  following.signal('SIGINT');
  const ended = await following.ended;
  expect(ended.code).toBe(130);
  expect(documents<any>(ended).map(({ state }) => state)).toEqual(['queued', 'queued']);
  expect(await one.wait(LONG)).toMatchObject({ m: 'first \u001b[31mline' });
});

test('bye ends the waiting of an agent', async () => {
  const one = await agent();
  const waiting = one.wait();
  expect(await run(parts, ['bye', one.name])).toMatchObject({
    code: 0,
    stdout: `The wait of ${one.name} was ended.\n`,
  });
  expect(await waiting).toEqual({ bye: true });
  const { code, stderr } = await run(parts, ['bye', 'nobody-of-this-name']);
  expect([code, stderr]).toEqual([4, expect.stringContaining('there is no agent "nobody-of-this-name"')]);
});

test('dead letters are shown, resent and dropped', async () => {
  const one = await agent();
  const sending = start(parts, ['send', 'poison', '--to', one.name, '--max-deliveries', '1', '--wait']);
  const { id } = await one.wait();
  expect(await one.wait(SOON)).toEqual({ nw: true });
  expect((await sending.ended).stderr).toContain(`${one.name}: dead_lettered after 1 delivery`);
  const { stdout } = await run(parts, ['inbox', one.name, '--dead']);
  expect(stdout).toContain(`${id} (task, dead after 1 delivery) from an unnamed sender\n  poison\n`);
  expect((await run(parts, ['agents'])).stderr).toContain(`Dead letters of ${one.name}: 1`);
  expect(await run(parts, ['dead-letters', 'resend', id])).toMatchObject({
    code: 0,
    stdout: `Resent ${id}\n`,
  });
  expect(await one.wait()).toMatchObject({ id, m: 'poison' });
  expect(await one.wait(SOON)).toEqual({ nw: true });
  expect(await run(parts, ['dead-letters', 'drop', id])).toMatchObject({
    code: 0,
    stdout: `Dropped ${id}\n`,
  });
  expect((await run(parts, ['inbox', one.name, '--dead'])).stdout).toBe('No dead letters.\n');
  expect((await run(parts, ['dead-letters', 'drop', id])).code).toBe(4);
});

test('send --wait shows what the agent reports meanwhile', async () => {
  const one = await agent();
  const sending = start(parts, ['send', 'long work', '--to', one.name, '--wait']);
  const { id } = await one.wait({ lease_seconds: 60, ...LONG });
  const report = { agent_id: one.agentId, message_id: id, text: 'half of it', fraction: 0.5 };
  expect(await one.call('report_progress', report)).toEqual({ ok: true });
  expect(await one.call('report_progress', report)).toEqual({ skipped: true });
  await eventually('it is shown', () => sending.stderr.includes(`${one.name}: half of it (50 %)`));
  expect(await one.call('check_replies', { message_id: id })).toEqual({
    state: { [one.name]: 'delivered' },
    progress: { [one.name]: { text: 'half of it', fraction: 0.5, at: expect.any(String) } },
  });
  await one.respond(id, 'done');
  expect(await sending.ended).toMatchObject({ code: 0, stdout: `${one.name}: done\n` });
});

test('an error is one line', async () => {
  const one = await agent();
  for (const [args, code, message] of [
    [['send', 'x', '--to', 'two words'], 2, 'to: expected 1 to 64 letters'],
    [['send', 'x', '--to', one.name, '--context', '{'], 2, '--context: expected JSON; got "{"'],
    [['send', 'x', '--all', '--anyone'], 2, "'--all' cannot be used with option '--anyone'"],
    [['inbox', 'a/b'], 2, 'expected 1 to 64 letters'],
  ] as const) {
    const ended = await run(parts, [...args]);
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toMatch(/^ +at /m);
    expect(ended.code).toBe(code);
  }
  await one.wait(SOON);
});

test('without a mailbox it says how to switch it on', async () => {
  const port = await freePort();
  parts.server({ LONGHAUL_PORT: String(port), LONGHAUL_MAILBOX: '' });
  const url = `http://127.0.0.1:${port}/mcp`;
  const { stderr } = await eventually('the server answers', async () => {
    const ended = await run(parts, ['agents', '--url', url]);
    return ended.code === 3 ? undefined : ended;
  });
  expect(stderr).toBe(
    'longhaul: the server has no mailbox: start it with LONGHAUL_MAILBOX=1 or --mailbox true\n',
  );
});
