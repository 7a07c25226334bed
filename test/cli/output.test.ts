/** Files that an operation has left, and standard output that is read in part, or can't be written. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { PROCESSES_MS } from '../support/limits.js';
import { documents, run } from './commands.js';

const PIPELINES = {
  long: `
jobs:
  print:
    artifacts: [numbers.txt]
    steps:
      - run: |
          seq 1 200000
          seq 1 200000 > numbers.txt
`,
  survey: `
jobs:
  visit:
    artifacts: ['*.txt']
    steps: [{ run: printf north > north.txt; printf south > south.txt }]
`,
};

const folder = mkdtempSync(join(tmpdir(), 'longhaul-get-'));
const project = PipelineProject.ofFile(PIPELINES);
let token: string;
let visited: string;
beforeAll(async () => {
  token = await project.client.start('long', {});
  visited = await project.client.start('survey', {});
  for (const one of [token, visited]) await project.client.until(one, 'completed');
}, PROCESSES_MS);
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs `longhaul ARGS` with something behind it in bash. */
function bash(args: string, behind: string): Promise<{ stdout: string; stderr: string }> {
  const command = `longhaul() { '${process.execPath}' '${resolve('dist/bin/longhaul.js')}' "$@"; }
    longhaul ${args} ${behind}; echo "codes \${PIPESTATUS[*]}"`;
  const child = spawn('bash', ['-c', command], {
    env: { ...process.env, NODE_OPTIONS: '', LONGHAUL_PORT: String(project.parts.port) },
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  return new Promise((settle) => child.once('close', () => settle(text)));
}

test.each(['logs TOKEN --follow', 'get TOKEN print/numbers.txt'])(
  '%s ends with 141 and without a word when its reader has gone',
  async (words) => {
    const { stdout, stderr } = await bash(words.replace('TOKEN', token), '| head -1');
    expect(stdout).toMatch(/^.+\ncodes 141 0\n$/);
    expect(stderr).toBe('');
  },
);

test('watch without a reader ends with the next line that it would print; the work continues', async () => {
  const running = await project.client.start('slow_compute', { seconds: 8, label: '' });
  const { stdout } = await bash(`watch ${running} --json`, '| head -1');
  expect(stdout).toMatch(/"status":"(submitted|working)".*\ncodes 141 0\n$/);
  expect((await run(project.parts, ['result', running, '--wait'])).code).toBe(0);
});

test('output that can not be written is an error: a full disk', async () => {
  const { stdout, stderr } = await bash(`status ${token}`, '> /dev/full');
  expect(stderr).toMatch(/^longhaul: standard output can't be written: ENOSPC[^\n]*\n$/);
  expect(stdout).toBe('codes 1\n');
});

test('get without a name lists the files of an operation, also those that the result does not name', async () => {
  const { code, stdout } = await run(project.parts, ['get', visited]);
  expect({ code, lines: stdout.split('\n') }).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(/^NAME +BYTES +TYPE$/),
      expect.stringMatching(/^visit\/north\.txt +5 +text\/plain/),
      expect.stringMatching(/^visit\/south\.txt +5 +text\/plain/),
      '',
    ],
  });
  expect(documents(await run(project.parts, ['get', visited, '--json']))).toMatchObject([
    { artifacts: [{ name: 'visit/north.txt', bytes: 5 }, { name: 'visit/south.txt' }] },
  ]);
});

test('get with a name prints the file, or writes it where -o says', async () => {
  expect(await run(project.parts, ['get', visited, 'visit/north.txt'])).toEqual({
    code: 0,
    stdout: 'north',
    stderr: '',
  });
  const path = join(folder, 'copy.txt');
  expect(await run(project.parts, ['get', visited, 'visit/south.txt', '-o', path])).toMatchObject({
    code: 0,
    stdout: '',
  });
  expect(readFileSync(path, 'utf8')).toBe('south');
});

test('a missing file or operation is reported, and nothing is written', async () => {
  const path = join(folder, 'none.txt');
  const missing = await run(project.parts, ['get', visited, 'visit/west.txt', '-o', path]);
  expect(missing).toMatchObject({ code: 4, stdout: '' });
  expect(missing.stderr).toContain('west.txt');
  expect(await run(project.parts, ['get', 'no-such-token', 'x', '-o', path])).toMatchObject({ code: 4 });
  expect(
    await run(project.parts, ['get', visited, 'visit/north.txt', '-o', join(folder, 'no', 'folder')]),
  ).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^longhaul: [^\n]*ENOENT[^\n]*\n$/),
  });
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(folder)).not.toContainEqual(expect.stringMatching(/\.tmp$/));
});
