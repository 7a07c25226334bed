/** `longhaul top` in a terminal, and `longhaul list --watch` in a pipe. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { TestStack } from '../support/test-stack.js';
import { documents, KEYS, run, start, terminalOpener, type Running } from './commands.js';

jest.setTimeout(STACK_MS);

/** The alternate screen without a cursor, and back. */
const ENTERED = '\u001b[?1049h\u001b[?25l';
const LEFT = '\u001b[?25h\u001b[?1049l';

let parts: TestStack;
const open = terminalOpener(() => parts);
beforeAll(async () => {
  // Its own namespace: lists show all of one.
  parts = await TestStack.start({ TEMPORAL_NAMESPACE: await newNamespace('top') });
}, PROCESSES_MS);
afterAll(() => parts?.stop());

/** Waits until lists, which lag, have an operation. */
const listed = (token: string) =>
  eventually('it is listed', async () => (await run(parts, ['list'])).stdout.includes(token));

describe('top', () => {
  test('shows operations with questions on top; opens, answers and cancels them; restores the terminal', async () => {
    const working = await parts.client.start('slow_compute', { seconds: 600 });
    const asking = await parts.client.start('confirm_delete', { filename: 'old.txt' });
    await parts.client.until(asking, 'input_required');
    await Promise.all([listed(working), listed(asking)]);
    const terminal = open('top', '--interval', '1');
    await terminal.shows(/2 open +1 ask +0 queued/);
    await terminal.shows(/confirm_delete +\d+s +\? Delete old\.txt\?/);
    await terminal.shows(/slow_compute .*count primes █*░+ \d+%/);
    await terminal.at(/a answer/, 'a');
    // The list shows the question's text too, and may do so once more before the prompt opens.
    await terminal.at('● Answer', KEYS.enter);
    await terminal.at('Delete it?', KEYS.left, KEYS.enter);
    expect((await parts.client.until(asking, 'completed')).result.structuredContent.deleted).toEqual([
      'old.txt',
    ]);
    await terminal.at(/1 open +0 ask/, 'o');
    await terminal.shows(new RegExp(`${working} +slow_compute`));
    await terminal.at('esc back', 'c');
    await terminal.at(`Cancel ${working}? y/n`, 'n');
    await terminal.at('esc back', 'c');
    await terminal.at(`Cancel ${working}? y/n`, 'y');
    await parts.client.until(working, 'cancelled');
    terminal.type('q');
    expect(await terminal.ended).toBe(0);
    expect(terminal.raw).toContain(ENTERED);
    expect(terminal.raw.trimEnd().endsWith(LEFT)).toBe(true);
  });

  test.each([
    ['Ctrl-C', 0],
    ['SIGTERM', 143],
  ])('restores the terminal after %s', async (how, code) => {
    const terminal = open('top');
    await terminal.shows('No operation is open.');
    if (how === 'Ctrl-C') terminal.type(KEYS.interrupt);
    else terminal.signal('SIGTERM');
    expect(await terminal.ended).toBe(code);
    expect(terminal.raw).toContain(LEFT);
  });

  test('without a terminal it names the command for pipes', async () => {
    const { code, stderr } = await run(parts, ['top']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('`longhaul list --watch`')]);
  });
});

describe('list --watch', () => {
  const rows = (watching: Running): any[] =>
    documents<any>({ code: 0, stderr: '', stdout: watching.stdout.replace(/[^\n]*$/, '') });

  test('prints open operations, then each change, through a restart of the server, until Ctrl-C', async () => {
    const token = await parts.client.start('confirm_delete', { filename: 'watched.txt' });
    await parts.client.until(token, 'input_required');
    await listed(token);
    const watching = start(parts, ['list', '--watch', '--json']);
    const has = (status: string, of = token) =>
      eventually(`${of} is ${status}; ${watching.stdout}${watching.stderr}`, () =>
        rows(watching).some((row) => row.token === of && row.status === status),
      );
    await has('input_required');
    await parts.parts[0]!.end('SIGKILL');
    await eventually('it notices that', () => watching.stderr.includes('the server is gone'));
    parts.server();
    await parts.ready();
    const keys = Object.keys((await parts.client.get(token)).inputRequests);
    const inputResponses = { [keys[0]!]: { action: 'decline' } };
    await parts.client.request('tasks/update', { taskId: token, inputResponses });
    await has('completed');
    const short = await parts.client.start('slow_compute', { seconds: 0 });
    await has('completed', short);
    expect(watching.stderr).toContain('the server is back');
    watching.signal('SIGINT');
    const ended = await watching.ended;
    expect(ended.code).toBe(0);
    const seen = documents<any>(ended).map((row) => `${row.token} ${row.status} ${row.stage ?? ''}`);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
