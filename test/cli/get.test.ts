/** `longhaul get`: the files that an operation has left. */
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { PROCESSES_MS } from '../support/limits.js';
import type { TestStack } from '../support/test-stack.js';
import { documents, run } from './commands.js';

const PIPELINES = {
  survey: `
jobs:
  visit:
    artifacts: ['*.txt']
    steps: [{ run: printf north > north.txt; printf south > south.txt }]
`,
};

const folder = mkdtempSync(join(tmpdir(), 'longhaul-get-'));
let project: PipelineProject;
let parts: TestStack;
let token: string;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
  parts = project.parts;
  token = await parts.client.start('survey');
  await parts.client.until(token, 'completed');
}, PROCESSES_MS);
afterAll(() => project?.stop());

test('without a name it lists them, also those that the result does not name', async () => {
  const { code, stdout } = await run(parts, ['get', token]);
  expect({ code, lines: stdout.split('\n') }).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(/^NAME +BYTES +TYPE$/),
      expect.stringMatching(/^visit\/north\.txt +5 +text\/plain/),
      expect.stringMatching(/^visit\/south\.txt +5 +text\/plain/),
      '',
    ],
  });
  expect(documents(await run(parts, ['get', token, '--json']))).toMatchObject([
    { artifacts: [{ name: 'visit/north.txt', bytes: 5 }, { name: 'visit/south.txt' }] },
  ]);
});

test('with a name it prints the file, or writes it where -o says', async () => {
  expect(await run(parts, ['get', token, 'visit/north.txt'])).toEqual({
    code: 0,
    stdout: 'north',
    stderr: '',
  });
  const path = join(folder, 'copy.txt');
  expect(await run(parts, ['get', token, 'visit/south.txt', '-o', path])).toMatchObject({
    code: 0,
    stdout: '',
  });
  expect(readFileSync(path, 'utf8')).toBe('south');
});

test('a missing file or operation is reported, and nothing is written', async () => {
  const path = join(folder, 'none.txt');
  const missing = await run(parts, ['get', token, 'visit/west.txt', '-o', path]);
  expect(missing).toMatchObject({ code: 4, stdout: '' });
  expect(missing.stderr).toContain('west.txt');
  expect(await run(parts, ['get', 'no-such-token', 'x', '-o', path])).toMatchObject({ code: 4 });
  expect(
    await run(parts, ['get', token, 'visit/north.txt', '-o', join(folder, 'no', 'folder')]),
  ).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^longhaul: [^\n]*ENOENT[^\n]*\n$/),
  });
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(folder)).not.toContainEqual(expect.stringMatching(/\.tmp$/));
});
