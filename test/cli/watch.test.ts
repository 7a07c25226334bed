/** Calls and watches of one operation and of several, at a terminal, and while the server is away. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { TestStack, type Part } from '../support/test-stack.js';
import { documents, KEYS, run, start, terminalOpener } from './commands.js';

let parts: TestStack;
let server: Part;
const open = terminalOpener(() => parts);
beforeAll(async () => {
  parts = await TestStack.serverOnSharedWorker();
  server = parts.parts[0]!;
});
afterAll(() => parts.stop());

const compute = (seconds: number, label: string) => parts.client.start('slow_compute', { seconds, label });
const confirm = (filename: string) => parts.client.start('confirm_delete', { filename });

describe('at a terminal', () => {
  test('a call shows stage, bar, share and time, and leaves only the result', async () => {
    const terminal = open('call', 'slow_compute', '--seconds', '6', '--label', 'bar');
    await terminal.shows(/count primes █+░+ \d+% \d+ primes \(\d+s\)/);
    await terminal.shows('"label": "bar"');
    expect(await terminal.ended).toBe(0);
  });

  test('a question is asked, and its answer ends the wait', async () => {
    const terminal = open('call', 'confirm_delete', '--filename', 'old.txt');
    await terminal.at('◆  Delete old.txt?', KEYS.enter);
    await terminal.at('Delete it?', KEYS.left, KEYS.enter);
    await terminal.shows('"old.txt"');
    expect(await terminal.ended).toBe(0);
  });

  test('a question can be declined', async () => {
    const terminal = open('call', 'confirm_delete', '--filename', 'old.txt');
    await terminal.at('◆  Delete old.txt?', KEYS.down, KEYS.enter);
    await terminal.shows('"answer": "decline"');
    expect(await terminal.ended).toBe(0);
  });

  test('Ctrl-C at a question detaches as well, and answer asks it again', async () => {
    const terminal = open('call', 'confirm_delete', '--filename', 'old.txt');
    await terminal.at('◆  Delete old.txt?', KEYS.interrupt);
    const [, token] = /longhaul watch (\S+)/.exec(await terminal.shows('detached'))!;
    expect(await terminal.ended).toBe(130);
    const again = open('answer', token!);
    await again.at('◆  Delete old.txt?', KEYS.enter);
    await again.at('Delete it?', KEYS.enter);
    expect(await again.ended).toBe(0);
    const { stdout } = await run(parts, ['result', token!, '--wait']);
    expect(JSON.parse(stdout)).toEqual({ answer: 'accept', deleted: [] });
  });

  test('a question that somebody else answers goes away', async () => {
    const terminal = open('call', 'confirm_delete', '--filename', 'old.txt');
    const [, token] = /runs as (\S+)/.exec(await terminal.shows('runs as'))!;
    await terminal.shows('Delete old.txt?');
    await run(parts, ['answer', token!, '--field', 'confirm=true']);
    await terminal.shows('question input-1 is no longer open');
    expect(await terminal.ended).toBe(0);
  });

  test('arguments that a tool asks for before it starts are prompted for', async () => {
    const terminal = open('call', 'test_tool_with_task');
    await terminal.at('◆  Who is there?', KEYS.enter);
    await terminal.at('name', 'Zoe', KEYS.enter);
    await terminal.shows('Hello Zoe, the task is done');
    expect(await terminal.ended).toBe(0);
  });
});

test('a server that goes away is waited for when it was stopped, and the watch ends well', async () => {
  const { stdout: token } = await run(parts, ['call', 'slow_compute', '--seconds', '6', '--detach']);
  const running = start(parts, ['watch', token.trim()]);
  await eventually('it runs', () => running.stderr.includes('count primes'));
  await server.end('SIGTERM');
  await eventually('it notices', () => running.stderr.includes('the server is gone'));
  server = parts.server();
  const { code, stdout, stderr } = await running.ended;
  expect(stderr).toMatch(/the server is gone \(.*\); the work continues; retrying\nthe server is back\n/);
  expect(JSON.parse(stdout)).toHaveProperty('primes');
  expect(code).toBe(0);
});

test('a server that goes away leaves only tasks in the lines of --json', async () => {
  const { stdout: token } = await run(parts, ['call', 'slow_compute', '--seconds', '5', '--detach']);
  const running = start(parts, ['watch', token.trim(), '--json']);
  await eventually('it runs', () => running.stdout.includes('count primes'));
  await server.end('SIGKILL');
  server = parts.server();
  await parts.ready();
  const tasks = documents(await running.ended);
  expect(tasks.every((task) => task['taskId'] === token.trim())).toBe(true);
  expect(tasks.at(-1)).toMatchObject({ status: 'completed' });
});

describe('watch of several operations', () => {
  test('prints each result under its token as it ends; the exit code is the worst', async () => {
    const [long, short, failing] = [
      await compute(8, 'long'),
      await compute(0, 'short'),
      await parts.client.start('failing_job', {}),
    ];
    const { code, stdout, stderr } = await run(parts, ['watch', long, short, failing, long]);
    const [, first, second] = stdout.split(/^== (?=\S+ completed$)/m);
    expect(first).toMatch(new RegExp(`^${short} completed\n`));
    expect(JSON.parse(first!.slice(first!.indexOf('\n')))).toMatchObject({ label: 'short' });
    expect(second).toMatch(new RegExp(`^${long} completed\n`));
    expect(JSON.parse(second!.slice(second!.indexOf('\n')))).toMatchObject({ label: 'long' });
    expect(stdout.match(/^== /gm)).toHaveLength(2);
    expect(stderr).toMatch(new RegExp(`^== ${failing} failed\n[^]*the second half exploded`, 'm'));
    expect(stderr).toMatch(new RegExp(`^${long}: working: `, 'm'));
    expect(code).toBe(1);
    // Without the failing one, and with one that was canceled before.
    const canceled = await compute(60, 'canceled');
    await run(parts, ['cancel', canceled]);
    expect((await run(parts, ['watch', short, long])).code).toBe(0);
    expect((await run(parts, ['watch', canceled, long])).code).toBe(5);
  });

  test('--json prints every state of each on a line with its token, and errors too', async () => {
    const tokens = [await compute(1, 'a'), await compute(1, 'b')];
    const ended = await run(parts, ['watch', ...tokens, 'no-such-token', '--json']);
    const lines = documents<{ taskId: string; status?: string; error?: { exitCode: number } }>(ended);
    for (const token of tokens)
      expect(lines.filter(({ taskId }) => taskId === token).at(-1)!.status).toBe('completed');
    expect(lines.find(({ taskId }) => taskId === 'no-such-token')).toMatchObject({ error: { exitCode: 4 } });
    expect(lines.every(({ taskId }) => [...tokens, 'no-such-token'].includes(taskId))).toBe(true);
    expect(ended.code).toBe(4);
  });

  test('SIGINT leaves all of them running and says how to come back to those that are open', async () => {
    const [done, ...open] = [await compute(0, 'done'), await compute(600, 'a'), await compute(600, 'b')];
    const running = start(parts, ['watch', ...open, done]);
    await eventually('it watches all', () =>
      [...open.map((token) => `${token}: working`), `== ${done}`].every((text) =>
        (running.stderr + running.stdout).includes(text),
      ),
    );
    running.signal('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(
      new RegExp(`detached; 2 operations continue. Come back with: \\S*longhaul watch ${open.join(' ')}\n$`),
    );
    for (const token of open) {
      expect((await parts.client.get(token)).status).toBe('working');
      await run(parts, ['cancel', token]);
    }
  });

  test('a server that restarts is waited for, which is said once for all', async () => {
    const tokens = await Promise.all(Array.from({ length: 12 }, (_, index) => confirm(`${index}.txt`)));
    const running = start(parts, ['watch', ...tokens]);
    await eventually('it watches all', () =>
      tokens.every((_token, index) => running.stderr.includes(`Delete ${index}.txt?`)),
    );
    await server.end('SIGKILL');
    await eventually('it is noticed', () => running.stderr.includes('the server is gone'));
    server = parts.server();
    await parts.ready();
    for (const token of tokens) await parts.client.answer(token, 'input-1', { action: 'decline' });
    const { code, stdout, stderr } = await running.ended;
    expect(stderr.match(/the server is gone \(.*\); the work continues; retrying\n/g)).toHaveLength(1);
    expect(stderr.match(/the server is back\n/g)).toHaveLength(1);
    expect(stderr).not.toContain('Warning');
    for (const token of tokens) expect(stdout).toContain(`== ${token} completed\n`);
    expect(code).toBe(0);
  });
});

describe('watch of several operations at a terminal', () => {
  test('each has a line, questions are asked in turn and named, results come as they end', async () => {
    const asking = [await confirm('one.txt'), await confirm('two.txt')];
    const computing = await compute(600, 'last');
    for (const token of asking) await parts.client.until(token, 'input_required');
    const terminal = open('watch', ...asking, computing);
    // Which of the two asks first depends on the server.
    for (const _turn of asking) {
      await terminal.at(/◆ {2}\w+: Delete (one|two)\.txt\?/, KEYS.enter);
      await terminal.at('Delete it?', KEYS.left, KEYS.enter);
    }
    for (const token of asking) expect(terminal.screen).toContain(`${token}: Delete `);
    await terminal.shows(new RegExp(`${computing.slice(0, 8)} . count primes`));
    await eventually('their results are there', () =>
      asking.every((token) => terminal.screen.includes(`== ${token} completed`)),
    );
    await run(parts, ['cancel', computing]);
    expect(await terminal.ended).toBe(5);
  });

  test('Ctrl-C at a question detaches from all', async () => {
    const tokens = [await confirm('one.txt'), await compute(30, 'b')];
    const terminal = open('watch', ...tokens);
    await terminal.at(/Delete one\.txt\?/, KEYS.interrupt);
    await terminal.shows(`longhaul watch ${tokens.join(' ')}`);
    expect(await terminal.ended).toBe(130);
    for (const token of tokens) await run(parts, ['cancel', token]);
  });
});
