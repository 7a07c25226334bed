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

describe('at a terminal', () => {
  test('a call shows stage, bar, share and time, and leaves only the result', async () => {
    const terminal = open('call', 'slow_compute', '--seconds', '6', '--label', 'bar');
    await terminal.shows(/count primes █+░+ \d+% \d+ primes \(\d+s\)/);
    await terminal.shows('"label": "bar"');
    expect(await terminal.ended).toBe(0);
  });

  test('Ctrl-C detaches, and the work continues', async () => {
    const terminal = open('call', 'slow_compute', '--seconds', '5');
    await terminal.at('count primes', KEYS.interrupt);
    const [, token] = /longhaul watch (\S+)/.exec(await terminal.shows('detached'))!;
    expect(await terminal.ended).toBe(130);
    expect((await run(parts, ['result', token!, '--wait'])).code).toBe(0);
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

describe('a server that goes away', () => {
  test('is waited for when it was stopped, and the watch ends well', async () => {
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

  test('that was killed leaves only tasks in the lines of --json', async () => {
    const { stdout: token } = await run(parts, ['call', 'slow_compute', '--seconds', '5', '--detach']);
    const running = start(parts, ['watch', token.trim(), '--json']);
    await eventually('it runs', () => running.stdout.includes('count primes'));
    await server.end('SIGKILL');
    server = parts.server();
    const tasks = documents(await running.ended);
    expect(tasks.every((task) => task['taskId'] === token.trim())).toBe(true);
    expect(tasks.at(-1)).toMatchObject({ status: 'completed' });
  });
});
