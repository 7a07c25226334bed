/** `longhaul call`, `watch`, `answer`, `status`, `result` and `cancel` as scripts use them, and their exit codes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, freePort } from '../stack/cli-process.js';
import { TestStack } from '../support/test-stack.js';
import { documents, run, start } from './commands.js';

interface Task {
  taskId: string;
  status: string;
  result?: { structuredContent?: unknown; isError?: boolean };
  inputRequests?: Record<string, unknown>;
}

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts.stop());

async function detached(...args: string[]): Promise<string> {
  const { stdout } = await run(parts, ['call', '--detach', ...args]);
  return stdout.trim();
}

async function asking(token: string): Promise<void> {
  await parts.client.until(token, 'input_required');
}

test('tools lists what the server has, and as one document with --json', async () => {
  const plain = await run(parts, ['tools']);
  expect(plain.stdout).toMatch(/^slow_compute +Computes for a while\.$/m);
  const [{ tools }] = documents<{ tools: { name: string }[] }>(await run(parts, ['tools', '--json'])) as [
    { tools: { name: string }[] },
  ];
  expect(tools.map(({ name }) => name)).toContain('greet');
});

describe('call', () => {
  test('prints the result on standard output and nothing else there', async () => {
    const { code, stdout, stderr } = await run(parts, [
      'call',
      'slow_compute',
      '--seconds',
      '0.2',
      '--label=a',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ label: 'a' });
    expect(stderr).toMatch(/^slow_compute runs as \S+$/m);
    expect(stderr).not.toContain('\u001b');
    expect(code).toBe(0);
  });

  test('prints the result of short work, which needs no task', async () => {
    expect(await run(parts, ['call', 'greet', '--name', 'Ada'])).toEqual({
      code: 0,
      stdout: 'Hello, Ada!\n',
      stderr: '',
    });
  });

  test('--help shows the tool and its flags, from the running server', async () => {
    const { code, stdout } = await run(parts, ['call', 'slow_compute', '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Computes for a while.');
    expect(stdout).toMatch(/--seconds <number> +\(required, minimum 0, maximum 3600\)/);
    expect(stdout).toMatch(/--label <string> +\(default ""\)/);
    expect(stdout).toContain('130  detached with Ctrl-C');
  });

  test('takes arguments from a file or standard input, and flags win over them', async () => {
    const input = '{"seconds": 0, "label": "file"}';
    const file = join(mkdtempSync(join(tmpdir(), 'longhaul-args-')), 'args.json');
    writeFileSync(file, input);
    const fromFile = await run(parts, ['call', 'slow_compute', '--args', file]);
    expect(JSON.parse(fromFile.stdout)).toMatchObject({ label: 'file' });
    const fromInput = await run(parts, ['call', '--args', '-', 'slow_compute', '--label', 'flag'], { input });
    expect(JSON.parse(fromInput.stdout)).toMatchObject({ label: 'flag' });
    rmSync(file);
  });

  test('--json prints each state of the task on a line, the last one closed', async () => {
    const ended = await run(parts, ['call', 'slow_compute', '--seconds', '1', '--json']);
    const tasks = documents<Task>(ended);
    expect(tasks[0]!.status).toMatch(/^(submitted|working)$/);
    expect(tasks.at(-1)).toMatchObject({ status: 'completed', result: { structuredContent: { label: '' } } });
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(1);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toBe('');
  });

  test('--detach prints the token at once, and watch waits for it', async () => {
    const token = await detached('slow_compute', '--seconds', '1');
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    const { code, stdout } = await run(parts, ['watch', token]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toHaveProperty('primes');
  });

  test('SIGINT detaches: the work continues, and the command says how to come back', async () => {
    const running = start(parts, ['call', 'slow_compute', '--seconds', '4']);
    await eventually('it runs', () => running.stderr.includes('count primes'));
    running.signal('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    const [, token] = /longhaul watch (\S+)/.exec(stderr)!;
    expect((await run(parts, ['result', token!, '--wait'])).code).toBe(0);
  });
});

describe('questions', () => {
  test('are shown with the command that answers them, and watch continues once one is answered', async () => {
    const token = await detached('confirm_delete', '--filename', 'a b.txt');
    const running = start(parts, ['watch', token]);
    await eventually('it asks', () => running.stderr.includes('decline:'));
    const [, line] = /answer: +\S*longhaul (.*)$/m.exec(running.stderr)!;
    expect(line).toBe(`answer ${token} input-1 --field=confirm=true`);
    expect(await run(parts, line!.split(' '))).toMatchObject({ code: 0, stdout: 'input-1: accept\n' });
    const { code, stdout } = await running.ended;
    expect(JSON.parse(stdout)).toEqual({ answer: 'accept', deleted: ['a b.txt'] });
    expect(code).toBe(0);
  });

  test('are in the task lines of --json', async () => {
    const token = await detached('confirm_delete', '--filename', 'a');
    const running = start(parts, ['watch', token, '--json']);
    await eventually('it asks', () => running.stdout.includes('input_required'));
    await run(parts, ['answer', token, '--decline']);
    const tasks = documents<Task>(await running.ended);
    expect(tasks.some(({ inputRequests }) => inputRequests && 'input-1' in inputRequests)).toBe(true);
    expect(tasks.at(-1)!.result!.structuredContent).toMatchObject({ answer: 'decline' });
  });

  test('need a key when several are open', async () => {
    const token = await detached('multi_input');
    await asking(token);
    const refused = await run(parts, ['answer', token, '--decline']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('input-1, input-2');
    await run(parts, ['answer', token, 'input-1', '--content', '{"name": "Al"}']);
    await run(parts, ['answer', token, 'input-2', '--field', 'name=Bo', '--field', 'confirm=true']);
    const { stdout } = await run(parts, ['result', token, '--wait']);
    expect(JSON.parse(stdout)).toEqual({ answers: [{ name: 'Al' }, { name: 'Bo', confirm: true }] });
  });
});

test('status shows the state of an operation', async () => {
  const token = await detached('confirm_delete', '--filename', 'a');
  await asking(token);
  const { code, stdout } = await run(parts, ['status', token]);
  expect(stdout).toMatch(/^status +input_required$/m);
  expect(stdout).toContain('question input-1: Delete a?');
  expect(code).toBe(0);
  expect(documents(await run(parts, ['status', token, '--json']))).toMatchObject([{ taskId: token }]);
  await run(parts, ['cancel', token]);
});

describe('exit codes', () => {
  test('1: the tool failed; what it says is on standard error', async () => {
    const { code, stdout, stderr } = await run(parts, ['call', 'failing_job']);
    expect(stderr).toContain('the second half exploded');
    expect(stdout).toBe('');
    expect(code).toBe(1);
    expect((await run(parts, ['call', 'protocol_error_job'])).code).toBe(1);
  });

  test('3: no server answers; with --json that is a document', async () => {
    const url = `http://127.0.0.1:${await freePort()}/mcp`;
    const { code, stderr } = await run(parts, ['tools', '--url', url]);
    expect(stderr).toMatch(new RegExp(`^longhaul: no server at ${url}: .*ECONNREFUSED.*longhaul up.*\n$`));
    expect(code).toBe(3);
    const asDocument = await run(parts, ['status', 'x', '--json'], { environment: { LONGHAUL_URL: url } });
    expect(documents(asDocument)).toMatchObject([{ error: { exitCode: 3 } }]);
  });

  test('5: canceled', async () => {
    const token = await detached('slow_compute', '--seconds', '60');
    expect((await run(parts, ['cancel', token])).code).toBe(0);
    expect(await run(parts, ['watch', token])).toMatchObject({ code: 5, stdout: '', stderr: 'canceled\n' });
    expect((await run(parts, ['cancel', token])).stdout).toBe(`${token} is canceled already\n`);
  });

  test('cancel takes several tokens, and an unknown one keeps none of the others', async () => {
    const tokens = [
      await detached('slow_compute', '--seconds', '60'),
      await detached('slow_compute', '--seconds', '60'),
    ];
    expect(await run(parts, ['cancel', tokens[0]!, 'no-such-token', tokens[1]!])).toMatchObject({ code: 4 });
    for (const token of tokens) expect((await run(parts, ['watch', token])).code).toBe(5);
  });

  test('7 while there is no partial result, 0 once there is one, 1 if the work ended without one', async () => {
    const partialOf = (token: string, ...more: string[]) =>
      run(parts, ['result', token, '--partial', ...more]);
    const none = await detached('slow_compute', '--seconds', '60');
    expect(await partialOf(none)).toMatchObject({
      code: 7,
      stdout: '',
      stderr: `longhaul: ${none}: no partial result yet\n`,
    });
    await run(parts, ['cancel', none]);
    await run(parts, ['result', none, '--wait']);
    expect(await partialOf(none)).toMatchObject({
      code: 1,
      stderr: `longhaul: ${none}: no partial result\n`,
    });

    const some = await detached('large_values', '--partial-bytes', '3', '--then-wait-seconds', '60');
    await eventually('it has a partial result', async () => (await partialOf(some)).code === 0);
    expect((await partialOf(some)).stdout).toBe('{\n  "text": "ppp"\n}\n');
    const withSlash = `--url=${parts.base}/mcp/`;
    expect((await partialOf(some, withSlash)).stdout).toContain('"ppp"');
    await run(parts, ['cancel', some]);
    await run(parts, ['result', some, '--wait']);
    expect(documents(await partialOf(some, '--json'))).toEqual([{ token: some, partial: { text: 'ppp' } }]);

    expect((await partialOf('no-such-token')).code).toBe(4);
    expect(await partialOf(some, '--wait')).toMatchObject({ code: 2, stdout: '' });
  });

  test('7: no result yet', async () => {
    const token = await detached('slow_compute', '--seconds', '60');
    const { code, stderr } = await run(parts, ['result', token]);
    expect(stderr).toContain(`longhaul result ${token} --wait`);
    expect(code).toBe(7);
    await run(parts, ['cancel', token]);
  });
});
