/** Standard output that is read in part, or can't be written. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { PROCESSES_MS } from '../support/limits.js';
import { run } from './commands.js';

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
};

let project: PipelineProject;
let token: string;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
  token = await project.client.start('long', {});
  await project.client.until(token, 'completed');
}, PROCESSES_MS);
afterAll(() => project?.stop());

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
