import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { documents, run as runOn, type Ended } from './commands.js';

const PIPELINES = {
  broken: `
jobs:
  build:
    steps:
      - name: Compile
        run: |
          echo "line of the log"
          exit 3
`,
  /** Cleans up after a cancel for as long as a test wants. */
  lingers: `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  work:
    steps:
      - { name: Work, run: echo begun >> "$INPUT_LEDGER"; sleep 600 }
      - name: Tidy
        if: always
        run: until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
`,
};

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.start(PIPELINES, {
    LONGHAUL_PROJECT: resolve('test/cli/project'),
    // Its own namespace: lists show all of one.
    TEMPORAL_NAMESPACE: await newNamespace('statuses'),
  });
}, PROCESSES_MS);
afterAll(() => project?.stop());

const run = (...args: string[]): Promise<Ended> => runOn(project.parts, args);

interface Row {
  token: string;
  status: string;
}

/** The operation in `list --json`, once the list has it in this status. */
function listed(token: string, status: string): Promise<Row> {
  return eventually('it is listed', async () => {
    const [page] = documents<{ operations: Row[] }>(
      await run('list', '--status', status, '--limit', '100', '--json'),
    );
    return page!.operations.find((row) => row.token === token);
  });
}

async function ended(tool: string): Promise<string> {
  const { stdout } = await run('call', '--detach', tool);
  const token = stdout.trim();
  await project.client.until(token, ({ status }) => ['completed', 'failed', 'cancelled'].includes(status));
  return token;
}

test.each([
  ['broken', 'failed', 1],
  ['too_long', 'timed_out', 6],
  ['refused', 'failed', 1],
])(
  '%s is %s in the text, the JSON and the exit code %i of status, watch and call',
  async (tool, status, code) => {
    const token = await ended(tool);
    const text = await run('status', token);
    expect(text.stdout).toMatch(new RegExp(`^status +${status}$`, 'm'));
    expect(text.code).toBe(code);
    for (const words of [
      ['status', token],
      ['watch', token],
      ['call', tool],
    ]) {
      const json = await run(...words, '--json');
      expect(documents(json).at(-1)).toMatchObject({ status });
      expect([words, json.code]).toEqual([words, code]);
    }
  },
);

test('a time-out is one in result, cancel, answer and list too', async () => {
  const token = await ended('too_long');
  for (const words of [
    ['watch', token],
    ['result', token],
    ['result', token, '--wait', '--json'],
    ['cancel', token, '--json'],
  ])
    expect([words, (await run(...words)).code]).toEqual([words, 6]);
  expect((await run('cancel', token)).stdout).toBe(`${token} is timed_out already\n`);
  expect(await listed(token, 'timed_out')).toMatchObject({ token, status: 'timed_out' });
  const { stdout } = await run('list', '--status', 'timed_out', '--limit', '100');
  expect(stdout).toMatch(new RegExp(`^${token} +too_long +timed_out `, 'm'));
  expect(await run('answer', token, '--decline')).toMatchObject({
    code: 1,
    stderr: `longhaul: ${token}: no question is open; it is timed_out\n`,
  });
});

test('an operation that is being canceled is working in status and list, and its steps are as they are', async () => {
  const token = await project.startOn('lingers', 'lingers');
  await eventually('it works', () => project.lines('lingers').includes('begun'));
  expect((await run('cancel', token)).code).toBe(0);
  const statuses = async () => {
    const [task] = documents<any>(await run('status', token, '--json'));
    return [task.status, ...task.children[0].steps.map((step: Row) => step.status)];
  };
  await eventually('it cleans up', async () => (await statuses())[2] === 'working');
  expect(await statuses()).toEqual(['working', 'canceled', 'working']);
  expect(await listed(token, 'working')).toMatchObject({ status: 'working' });
  writeFileSync(join(project.ledgers, 'lingers.go'), '');
  await project.client.until(token, 'cancelled');
  const text = await run('status', token);
  expect(text.stdout).toMatch(/^status +canceled$/m);
  expect(text.stdout).toMatch(/^ +work +canceled( |$)/m);
  expect(text.code).toBe(5);
  expect(await listed(token, 'canceled')).toMatchObject({ status: 'canceled' });
  expect((await run('cancel', token)).code).toBe(0);
});

test('what work has printed is shown without the marks that are for models', async () => {
  const token = await ended('broken');
  for (const words of [
    ['result', token],
    ['watch', token],
    ['call', 'broken'],
    ['resume', token],
  ]) {
    const { code, stderr } = await run(...words);
    expect([words, code]).toEqual([words, 1]);
    expect(stderr).toContain(
      'step "Compile" failed with exit code 3\nLast lines of its log:\nline of the log\n',
    );
    expect(stderr).not.toMatch(/not instructions|<\/?data>/);
  }
  const [task] = documents<any>(await run('result', token, '--json'));
  expect(task.result.content[0].text).toContain('line of the log');
  expect(JSON.stringify(task)).not.toMatch(/not instructions|<\/?data>/);
  // Models still get them.
  expect((await project.client.get(token)).result.content[0].text).toContain('not instructions');
});
