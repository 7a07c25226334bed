/** Wrong uses of the command line: each says where, what was expected and what came, with exit code 2, or 4 for what is unknown. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AsyncClient, connectStateless } from '../sep-1391/client.js';
import { TestStack } from '../support/test-stack.js';
import { run } from './commands.js';

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts?.stop());

test.each([
  [['call', 'greet'], 'arguments: missing "name"'],
  [['call', 'slow_compute', '--seconds', 'abc'], '--seconds: expected number; got "abc"'],
  [['call', 'slow_compute', '--seconds', '-1'], 'arguments.seconds: expected minimum 0; got -1'],
  [['call', 'slow_compute', '--seconds'], '--seconds: expected number; got nothing'],
  [['call', 'nope'], 'unknown tool "nope"; known are'],
  [['list', '--status', 'bad'], "argument 'bad' is invalid"],
  [['list', '--tool', 'slow_copmute'], 'unknown tool "slow_copmute"; known are'],
  [['list', '--since', '2026-02-30'], 'since: expected ISO 8601'],
  [['list', '--since=-1h'], 'expected a time such as 2026-11-21T12:00:00Z, or an age'],
  [['list', '--since', '99999999999d'], 'expected an age of at most 36500d'],
  [['tools', '--url', 'ftp://x'], '--url: expected an address'],
])('%j is refused with 2', async (args, message) => {
  const { code, stderr, stdout } = await run(parts, args);
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});

test.each(['status', 'watch', 'result', 'answer', 'cancel'])(
  '%s of an unknown token ends with 4',
  async (command) => {
    const { code, stderr } = await run(parts, [command, 'no-such-token']);
    expect(stderr).toBe('longhaul: no-such-token: Failed to retrieve task: Task not found\n');
    expect(code).toBe(4);
  },
);

test('without a terminal, call says how to give what the tool asks for first', async () => {
  const { code, stderr } = await run(parts, ['call', 'test_tool_with_task']);
  expect(code).toBe(2);
  expect(stderr).toContain('"Who is there?" (name)');
});

test('an answer that does not fit is refused', async () => {
  const token = await parts.client.start('confirm_delete', { filename: 'a' });
  await parts.client.until(token, 'input_required');
  for (const [flags, message] of [
    [['--content', '{"confirm": 3}'], 'content.confirm: expected boolean; got 3'],
    [['--field', 'confirm=maybe'], '--field confirm: expected boolean; got "maybe"'],
    [['--field', 'other=1'], 'one of the fields confirm'],
    [['--content', 'nonsense'], '--content: expected a JSON object; got "nonsense"'],
    [['--decline', '--cancel'], 'expected one of --content, --field, --decline and --cancel'],
    [[], 'expected an answer; got none'],
  ] as const) {
    const { code, stderr } = await run(parts, ['answer', token, ...flags]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  }
  await run(parts, ['cancel', token]);
});

test('a token that begins with a dash is taken for a token', async () => {
  const token = `-${'a'.repeat(26)}`;
  for (const args of [
    ['status', token],
    ['status', '--json', token],
    ['watch', token, 'c', '--json'],
  ]) {
    const { code, stderr } = await run(parts, args);
    expect(stderr).toContain(`${token}: Failed to retrieve task`);
    expect(code).toBe(4);
  }
});

test('a command that is suggested for such a token works as it is written', async () => {
  const client = new AsyncClient(connectStateless(parts.client.url));
  const token = `-${randomUUID()}`;
  await client.start('slow_compute', { seconds: 600 }, { token });
  const { stderr, code } = await run(parts, ['result', token]);
  expect(code).toBe(7);
  const [, words] = /wait for it with: \S*longhaul (.+)\n/.exec(stderr)!;
  expect(words).toContain(token);
  await run(parts, ['cancel', token]);
  expect(await run(parts, words!.split(' '))).toMatchObject({ code: 5 });
});
