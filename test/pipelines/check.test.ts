/** `longhaul check` as a process. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GOOD = 'jobs:\n  one: { steps: [{ run: a }, { run: b }] }\n  two: { steps: [{ run: c }] }\n';

function file(name: string, content: string | Buffer): string {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), content);
  return name;
}

function longhaul(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const options = { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' }, timeout: 150_000 };
  return new Promise((settle) => {
    execFile(process.execPath, [resolve('dist/bin/longhaul.js'), ...args], options, (error, stdout, stderr) =>
      settle({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

test('a good file is listed with its tool, jobs and steps', async () => {
  expect(await longhaul('check', file('nightly-build.yml', GOOD))).toEqual({
    code: 0,
    stdout: 'nightly-build.yml: ok, tool nightly_build, 2 jobs, 3 steps\n',
    stderr: '',
  });
});

test('every problem of every file is reported, and the exit code is 1', async () => {
  const files = [file('bad.yml', `on: push\n${GOOD}ifs: 1\n`), file('good.yml', GOOD), 'missing.yml'];
  const { code, stdout } = await longhaul('check', ...files);
  expect(code).toBe(1);
  expect(stdout.split('\n').map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
    'bad.yml:1:1: on: unknown',
    'bad.yml:5:1: ifs: unknown',
    'good.yml: ok, tool',
    'missing.yml:1:1: no such',
    '',
  ]);
});

test('a folder stands for the pipelines in it', async () => {
  file('some/b.yaml', GOOD);
  file('some/a.yml', GOOD);
  file('some/notes.txt', 'not a pipeline');
  file('some/deeper/c.yml', 'not a pipeline');
  const { code, stdout } = await longhaul('check', 'some');
  expect(stdout).toBe('some/a.yml: ok, tool a, 2 jobs, 3 steps\nsome/b.yaml: ok, tool b, 2 jobs, 3 steps\n');
  expect(code).toBe(0);
});

test('--schema prints the schema for editors', async () => {
  const { code, stdout } = await longhaul('check', '--schema');
  expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync('pipelines/pipeline.schema.json', 'utf8')));
  expect(code).toBe(0);
});
