import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { documents, run as runOn, start as startOn, Terminal, type Ended, type Running } from './commands.js';

const PIPELINES = {
  /** Prints line by line as a test makes files, fails in its second step until another file is there. */
  talk: `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  build:
    steps:
      - name: Install
        run: |
          for i in $(seq 1 300); do echo "install $i"; done
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          echo installed
      - name: Compile
        run: |
          echo compiling
          test -e "$INPUT_LEDGER.fixed"
          echo compiled
  report:
    needs: build
    steps: [{ name: Announce, run: printf announced }]
`,
  /** More than is sent at once, with a line that alone is more, and no newline at the end. */
  long: `
jobs:
  print:
    steps:
      - run: |
          seq 1 60000
          head -c 600000 /dev/zero | tr '\\0' x
          printf '\\n%s' end
`,
  colors: `
jobs:
  paint:
    steps:
      - run: |
          printf '\\033[31mred\\033[0m \\033[2Jgone\\tend\\r\\n'
          printf '10%%\\r20%%\\n'
`,
};

const project = PipelineProject.ofFile(PIPELINES);

const run = (...args: string[]): Promise<Ended> => runOn(project.parts, args);
const start = (...args: string[]): Running => startOn(project.parts, args);
const touch = (name: string) => writeFileSync(join(project.ledgers, name), '');
const installs = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `install ${from + index}\n`).join('');

async function failed(ledger: string): Promise<string> {
  touch(`${ledger}.go`);
  const token = await project.startOn('talk', ledger);
  await project.client.until(token, 'completed');
  return token;
}

describe('logs', () => {
  let token: string;
  beforeAll(async () => {
    token = await failed('logs');
  });

  test('prints what a step has printed, and nothing else', async () => {
    expect(await run('logs', token, 'build/1')).toEqual({
      code: 0,
      stdout: `${installs(1, 300)}installed\n`,
      stderr: '',
    });
    expect((await run('logs', token, 'build/Compile')).stdout).toBe('compiling\n');
  });

  test('without a step takes the one that failed', async () => {
    expect((await run('logs', token)).stdout).toBe('compiling\n');
  });

  test.each([
    [['--tail', '250'], `${installs(52, 300)}installed\n`],
    [
      ['--from', '298', '--numbers'],
      '298: install 298\n299: install 299\n300: install 300\n301: installed\n',
    ],
    [['--pattern', '0{2}$'], 'install 100\ninstall 200\ninstall 300\n'],
    [['--tail', '50', '--pattern', 'ed$'], 'installed\n'],
  ])('%s', async (flags, printed) => {
    expect((await run('logs', token, 'build/1', ...flags)).stdout).toBe(printed);
  });

  test('--json prints an object for each line', async () => {
    expect(documents(await run('logs', token, 'build', '--json'))).toEqual([
      { step: 'build/2', number: 1, text: 'compiling' },
    ]);
  });

  test.each([
    [['build/7'], 2, 'step: expected one of build/1 ("Install", completed), build/2 ("Compile", failed)'],
    [['report/1'], 4, 'step report/1: it was not run, so there is no log'],
    [['--pattern', '('], 2, 'pattern: Invalid regular expression'],
    [['--tail', '0'], 2, 'expected a whole number of 1 or more'],
    [['--tail', '1', '--from', '1'], 2, "--tail: can't be used with --from or --to"],
  ])('%s is refused with %i', async (args, code, message) => {
    const ended = await run('logs', token, ...args);
    expect(ended.stderr).toContain(message);
    expect(ended).toMatchObject({ code, stdout: '' });
  });

  test('comes whole, however long it and its lines are', async () => {
    const token = await project.client.start('long');
    await project.client.until(token, 'completed');
    const numbers = Array.from({ length: 60_000 }, (_, index) => String(index + 1));
    const lines = [...numbers, 'x'.repeat(600_000), 'end'];
    const { code, stdout } = await run('logs', token);
    expect(code).toBe(0);
    expect(stdout === lines.join('\n')).toBe(true);
    const printed = documents<{ number: number; text: string; is_continued?: true }>(
      await run('logs', token, '--json', '--from', '59000'),
    );
    const joined: string[] = [];
    for (const { number, text, is_continued } of printed) {
      expect(number).toBe(59_000 + joined.length - (is_continued ? 1 : 0));
      if (is_continued) joined[joined.length - 1] += text;
      else joined.push(text);
    }
    expect(joined).toHaveLength(lines.length - 58_999);
    expect(joined.every((text, index) => text === lines[58_999 + index])).toBe(true);
  });

  test('of an unknown operation ends with 4', async () => {
    expect(await run('logs', 'unknown')).toMatchObject({
      code: 4,
      stderr: 'longhaul: operation not found\n',
    });
    expect((await run('logs', 'unknown', '--follow')).code).toBe(4);
  });

  test('of a tool that is no pipeline are its own, and it has no steps', async () => {
    const { stdout } = await run('call', 'slow_compute', '--seconds', '0', '--detach');
    await project.client.until(stdout.trim(), 'completed');
    for (const flags of [[], ['--follow']])
      expect(await run('logs', stdout.trim(), ...flags)).toMatchObject({ code: 0, stdout: '' });
    for (const flags of [[], ['--follow']]) {
      const ended = await run('logs', stdout.trim(), 'build', ...flags);
      expect(ended.stderr).toContain('only pipelines have steps with logs');
      expect(ended.code).toBe(4);
    }
  });
});

describe('logs --follow', () => {
  test('goes from step to step until the operation is closed, through a restart of the server', async () => {
    const token = await project.startOn('talk', 'followed');
    const running = start('logs', token, '--follow');
    await eventually('it shows what is there', () => running.stdout.includes('install 300\n'));
    const [server] = project.parts.parts;
    await server!.end('SIGKILL');
    await eventually('it says so', () => running.stderr.includes('retrying'));
    touch('followed.fixed');
    touch('followed.go');
    project.parts.server();
    const ended = await running.ended;
    expect(ended.stdout).toBe(
      `== build/1 Install\n${installs(1, 300)}installed\n== build/2 Compile\ncompiling\ncompiled\n== report/1 Announce\nannounced`,
    );
    expect(ended.stderr).toMatch(/the server is back\nthe operation is completed\n$/);
    expect(ended.code).toBe(0);
  });

  test('of one step ends with it, and shows no header', async () => {
    const token = await project.startOn('talk', 'one-step');
    const running = start('logs', token, 'build/2', '--follow');
    touch('one-step.go');
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'compiling\n' });
  });

  test('of a step that is never run ends once that is known', async () => {
    const token = await failed('never');
    expect(await run('logs', token, 'report/1', '--follow')).toMatchObject({ code: 0, stdout: '' });
  });

  test('ends with Ctrl-C, and the work continues', async () => {
    const token = await project.startOn('talk', 'left');
    await eventually('it has printed', async () =>
      (await run('logs', token)).stdout.includes('install 300\n'),
    );
    const running = start('logs', token, '--follow', '--tail', '1');
    await eventually('it shows the last line', () => running.stdout.includes('install 300\n'));
    running.signal('SIGINT');
    const ended = await running.ended;
    expect(ended.stderr).toMatch(new RegExp(`Come back with: \\S*longhaul logs ${token} --follow`));
    expect(ended).toMatchObject({ code: 130, stdout: '== build/1 Install\ninstall 300\n' });
    touch('left.fixed');
    touch('left.go');
    await project.client.until(token, (task) => task.status === 'completed' && !task.result.isError);
  });
});

test('at a terminal, colors are shown and whatever else a terminal would act upon is not', async () => {
  const token = await project.client.start('colors');
  await project.client.until(token, 'completed');
  expect((await run('logs', token)).stdout).toBe('\u001b[31mred\u001b[0m \u001b[2Jgone\tend\r\n10%\r20%\n');
  const terminal = new Terminal(project.parts, ['logs', token]);
  expect(await terminal.ended).toBe(0);
  // The screen leaves out sequences that it knows: that of the eraser has become text.
  expect(terminal.screen).toContain('red ␛[2Jgone');
  expect(terminal.screen).toContain('10%␍20%');
});

describe('resume', () => {
  test('continues after the last finished step and waits for the result', async () => {
    const token = await failed('fixed');
    touch('fixed.fixed');
    const ended = await run('resume', token);
    expect(ended.stderr).toMatch(/^talk runs as \S+$/m);
    expect(ended.code).toBe(0);
    const [, resumed] = /^talk runs as (\S+)$/m.exec(ended.stderr)!;
    expect((await run('logs', resumed!, 'build/Compile')).stdout).toMatch(/compiled\n$/);
    expect((await run('logs', resumed!, 'build/Install', '--tail', '1')).stdout).toBe('installed\n');
    const { stdout } = await run('status', resumed!);
    expect(stdout).toMatch(/^ {4}1 Install +completed +\d+s, in an earlier operation$/m);
  });

  test('from a step runs it again; --detach waits for nothing', async () => {
    const token = await failed('again');
    const ended = await run('resume', token, '--from', 'build/Install', '--detach');
    expect(ended.code).toBe(0);
    const resumed = ended.stdout.trim();
    expect(await run('watch', resumed)).toMatchObject({ code: 1 });
    expect((await run('status', resumed)).stdout).toMatch(/^ {4}1 Install +completed +\d+s$/m);
  });

  test('refuses an operation that is running, and an unknown step', async () => {
    const token = await project.startOn('talk', 'running');
    expect((await run('resume', token)).stderr).toMatch(/only one that has ended can be resumed\n$/);
    touch('running.go');
    await project.client.until(token, 'completed');
    const ended = await run('resume', token, '--from', 'build/9', '--json');
    expect(documents(ended)).toMatchObject([{ error: { exitCode: 2 } }]);
    expect(ended.code).toBe(2);
  });
});

test('status shows the jobs and steps of a pipeline', async () => {
  const token = await failed('status');
  const { stdout } = await run('status', token);
  const tree = stdout.slice(stdout.indexOf('jobs\n'));
  expect(tree).toMatch(/^ {2}build +failed/m);
  expect(tree).toMatch(/^ {4}1 Install +completed +\d+s$/m);
  expect(tree).toMatch(/^ {4}2 Compile +failed +exit code 1, \d+s$/m);
  expect(tree).toMatch(/^ {2}report +skipped/m);
  const [json] = documents<any>(await run('status', token, '--json'));
  expect(json).toMatchObject({ taskId: token, children: [{ name: 'build' }, { name: 'report' }] });
});
