import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { LEDGER, PipelineProject, textOf } from './support.js';

jest.setTimeout(PROCESSES_MS);
const waits = (word: string) => `
${LEDGER}
outputs: { word: only.word }
jobs:
  only:
    outputs: [word]
    steps:
      - run: 'echo started >> "$INPUT_LEDGER"; while [ ! -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done'
      - run: 'echo "word=${word}" >> "$LONGHAUL_OUTPUT"'
`;

const project = PipelineProject.ofFile({
  waits: waits('first'),
  broken: 'jobs:\n  a:\n    steps:\n      - rnu: echo hello\n',
  twin_of_greet: 'name: greet\njobs: { a: { steps: [{ run: echo }] } }',
});

const names = async (): Promise<string[]> =>
  (await project.client.request('tools/list')).result.tools.map(({ name }: any) => name);
const wordOf = async (token: string) =>
  (await project.client.until(token, 'completed')).result.structuredContent.word;

test('a file with a mistake takes away its own tool only, and a call says where the mistake is', async () => {
  expect(await names()).toContain('waits');
  expect(await names()).not.toContain('broken');
  const { error } = await project.client.request('tools/call', { name: 'broken', arguments: {} });
  expect(error!.message).toMatch(/broken\.yml:4:9: .*rnu.*run/s);
  project.write('broken', 'jobs:\n  a:\n    steps:\n      - run: echo hello\n');
  expect(await names()).toContain('broken');
});

test('a name that is taken by another tool is refused', async () => {
  expect((await names()).filter((name) => name === 'greet')).toHaveLength(1);
  expect(textOf(await project.call('greet', { name: 'x' }))).toBe('Hello, x!');
});

test('an edit, a new name and a deletion reach new operations only', async () => {
  const start = async (ledger: string) => {
    const token = await project.startOn('waits', ledger);
    await project.reaches(ledger, 'started');
    return token;
  };
  const first = await start('first');
  project.write('waits', waits('second'));
  const second = await start('second');
  renameSync(join(project.folder, 'waits.yml'), join(project.folder, 'waits-renamed.yml'));
  expect(await names()).toContain('waits_renamed');
  expect(await names()).not.toContain('waits');
  rmSync(join(project.folder, 'waits-renamed.yml'));
  expect(await names()).not.toContain('waits_renamed');
  for (const ledger of ['first', 'second']) project.letGo(ledger);
  expect([await wordOf(first), await wordOf(second)]).toEqual(['first', 'second']);
});
