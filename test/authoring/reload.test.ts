/** Edits of tools, workflows and activities while a server and a worker run. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { TestStack, type Part } from '../support/test-stack.js';
import { writeFiles } from '../support/write-files.js';

// Each edit of a workflow takes a run of the bundler.
jest.setTimeout(STACK_MS);

const root = mkdtempSync(join(tmpdir(), 'longhaul-reload-'));
const project = join(root, 'project');
const ledgers = join(root, 'ledgers');
let parts: TestStack;
let server: Part;
let worker: Part;

const write = (name: string, text: string) => writeFiles(project, { [name]: text });

const tool = (name: string, does = 'Does it.') => `
import { defineTool } from 'longhaul';
export default defineTool({
  name: '${name}',
  description: { does: '${does}' },
  estimate: { seconds: 1 },
  input: { type: 'object', properties: { ledger: { type: 'string' } }, required: ['ledger'] },
  output: { type: 'object', properties: { words: { type: 'array', items: { type: 'string' } } } },
});`;

/** Calls activities one after the other. */
const workflow = (name: string, steps: string[]) => `
import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/${name}.js';
const { ${[...new Set(steps)].join(', ')} } = proxyActivities<typeof activities>({ startToCloseTimeout: '5m' });
export async function ${name}({ ledger }: { ledger: string }) {
  return { words: [${steps.map((step) => `await ${step}(ledger)`).join(', ')}] };
}`;

/** An activity that writes a line and gives a word; `waits`: until the file \`LEDGER.go\` is there. */
const activity = (name: string, word: string, waits = false) => `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
export async function ${name}(ledger: string): Promise<string> {
  appendFileSync(ledger, '${name} ${word}\\n');
  ${waits ? "while (!existsSync(ledger + '.go')) await delay(50);" : ''}
  return '${word}';
}`;

function writeTool(name: string, word: string): void {
  write(`activities/${name}.ts`, activity(`${name}_step`, word));
  write(`workflows/${name}.ts`, workflow(name, [`${name}_step`]));
  write(`tools/${name}.ts`, tool(name));
}

const ledgerOf = (name: string) => join(ledgers, name);
const linesOf = (name: string) =>
  existsSync(ledgerOf(name)) ? readFileSync(ledgerOf(name), 'utf8').trim().split('\n') : [];
const start = (name: string, ledger: string): Promise<string> =>
  parts.client.start(name, { ledger: ledgerOf(ledger) });
const wordsOf = async (taskId: string): Promise<string[]> =>
  (await parts.client.until(taskId, 'completed')).result.structuredContent.words;
const list = async () => (await parts.client.request('tools/list')).result;
const names = async (): Promise<string[]> => (await list()).tools.map((one: any) => one.name);
const problems = async (): Promise<string[]> => (await list())._meta?.['longhaul/problems'] ?? [];
const messagesOf = (part: Part) =>
  part
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line).msg as string)
    .join('\n');
const said = (part: Part, pattern: RegExp) =>
  eventually(
    () => `it says ${pattern}; it said: ${messagesOf(part).slice(-4000)}`,
    () => pattern.test(messagesOf(part)),
    45_000,
  );
const count = (part: Part, pattern: RegExp) => [...part.output().matchAll(new RegExp(pattern, 'g'))].length;

/** Waits until a worker has taken up the workflows once more than `before`. */
const takenUp = (before: number) =>
  eventually(
    () => `workflows are loaded again; output of the worker: ${worker.output().slice(-4000)}`,
    () => count(worker, /workflows are loaded again/) > before,
  );
const takenUpSoFar = () => count(worker, /workflows are loaded again/);

beforeAll(async () => {
  mkdirSync(ledgers, { recursive: true });
  writeTool('first', 'one');
  write('tools/broken_at_start.ts', 'export default {');
  write('workflows/broken_at_start.ts', 'export async function broken_at_start() { return {');
  // Its own project, whose files the tests edit.
  parts = await TestStack.start({
    LONGHAUL_PROJECT: project,
    LONGHAUL_PIPELINE_FOLDERS: join(project, 'pipelines'),
    LONGHAUL_HOME: join(root, 'home'),
  });
  [server, worker] = parts.parts as [Part, Part];
}, PROCESSES_MS);
afterAll(async () => {
  await parts?.stop();
  rmSync(root, { recursive: true, force: true });
});

describe('at the start', () => {
  test('a file that can not be used takes away its own tool only, and every part says which and why', async () => {
    expect(await names()).toContain('first');
    expect(await names()).not.toContain('broken_at_start');
    expect(await wordsOf(await start('first', 'start'))).toEqual(['one']);
    await said(server, /tools\/broken_at_start\.ts:1:\d+: ParseError: Unexpected token/);
    await said(worker, /workflows\/broken_at_start\.ts:1:\d+: Unexpected token/);
    const { error } = await parts.client.request('tools/call', { name: 'broken_at_start', arguments: {} });
    expect(error!.message).toMatch(/can't be used.*tools\/broken_at_start\.ts:1:/s);
    await eventually('tools/list has both problems', async () => {
      const found = (await problems()).join('\n');
      return /tools\/broken_at_start\.ts:1/.test(found) && /workflows\/broken_at_start\.ts:1/.test(found);
    });
  });

  test('once it is corrected it is served', async () => {
    const before = takenUpSoFar();
    writeTool('broken_at_start', 'fixed');
    await takenUp(before);
    await eventually('it is listed', async () => (await names()).includes('broken_at_start'));
    expect(await wordsOf(await start('broken_at_start', 'fixed'))).toEqual(['fixed']);
    await eventually('no problem is left', async () => (await problems()).length === 0);
  });
});

describe('without a restart', () => {
  test('a new tool is served', async () => {
    writeTool('second', 'two');
    await eventually('it is listed', async () => (await names()).includes('second'));
    // The call may come before the worker has bundled: it waits there.
    expect(await wordsOf(await start('second', 'second'))).toEqual(['two']);
    expect([server, worker].map(({ process }) => process.exitCode)).toEqual([null, null]);
  });

  test('a changed definition is listed, also when a file that it imports has changed', async () => {
    write('lib/words.ts', "export const does: string = 'From a library.';");
    write(
      'tools/second.ts',
      tool('second')
        .replace("'Does it.'", 'does')
        .replace('import', "import { does } from '../lib/words.js';\nimport"),
    );
    const says = (words: string) =>
      eventually(`it says ${words}`, async () =>
        (await list()).tools.find((one: any) => one.name === 'second').description.startsWith(words),
      );
    await says('From a library.');
    write('lib/words.ts', "export const does: string = 'From another one.';");
    await says('From another one.');
  });

  test('a deleted definition is listed no more', async () => {
    rmSync(join(project, 'tools/second.ts'));
    await eventually('it is gone', async () => !(await names()).includes('second'));
  });

  test('a changed activity runs with the next attempt, and one that runs is left alone', async () => {
    write('activities/held.ts', activity('held_step', 'old', true));
    write('workflows/held.ts', workflow('held', ['held_step']));
    const before = takenUpSoFar();
    write('tools/held.ts', tool('held'));
    await takenUp(before);
    const running = await start('held', 'held');
    await eventually('it runs', () => linesOf('held').length === 1);
    const loaded = count(worker, /activities are loaded again/);
    write('activities/held.ts', activity('held_step', 'new'));
    await eventually('it is loaded', () => count(worker, /activities are loaded again/) > loaded);
    expect(await wordsOf(await start('held', 'held-later'))).toEqual(['new']);
    writeFileSync(`${ledgerOf('held')}.go`, '');
    expect(await wordsOf(running)).toEqual(['old']);
    expect(linesOf('held')).toEqual(['held_step old']);
  });
});

describe('a broken edit', () => {
  test('of a definition keeps the last good one, is reported at once, and is cleared once it is corrected', async () => {
    write('tools/first.ts', tool('first').replace('name:', 'nmae:'));
    await said(server, /tools\/first\.ts:\d.*"first" is served as it was before/);
    expect(await wordsOf(await start('first', 'kept'))).toEqual(['one']);
    expect((await problems()).join()).toMatch(/tools\/first\.ts:\d/);
    write('tools/first.ts', tool('first', 'Does it again.'));
    await eventually('it is corrected', async () => (await problems()).length === 0);
  });

  test('of a workflow keeps all workflows as they were', async () => {
    write('workflows/first.ts', 'export async function first() { return {');
    await said(worker, /workflows\/first\.ts:1:\d+: Unexpected token.*run as they were before/);
    expect(await wordsOf(await start('first', 'workflow-kept'))).toEqual(['one']);
    await eventually('it is listed', async () => /workflows\/first\.ts/.test((await problems()).join()));
    const before = takenUpSoFar();
    write('workflows/first.ts', workflow('first', ['first_step', 'first_step']));
    await takenUp(before);
    expect(await wordsOf(await start('first', 'workflow-corrected'))).toEqual(['one', 'one']);
    await eventually('it is corrected', async () => (await problems()).length === 0);
  });

  test('of an activity keeps it as it was', async () => {
    write('activities/first.ts', "throw new Error('no key');");
    await said(
      worker,
      /activities\/first\.ts:1: no key \(thrown at .*activities\/first\.ts:1\).*run as they were before/,
    );
    expect(await wordsOf(await start('first', 'activity-kept'))).toEqual(['one', 'one']);
    write('activities/first.ts', activity('first_step', 'corrected'));
    await eventually('it is corrected', async () => (await problems()).length === 0);
    expect(await wordsOf(await start('first', 'activity-corrected'))).toEqual(['corrected', 'corrected']);
  });

  test('is not reported for a file that is being written', async () => {
    const text = tool('slowly');
    write('tools/slowly.ts', text.slice(0, 40));
    appendFileSync(join(project, 'tools/slowly.ts'), text.slice(40));
    await eventually('it is listed', async () => (await names()).includes('slowly'));
    expect(server.output()).not.toContain('tools/slowly.ts');
    rmSync(join(project, 'tools/slowly.ts'));
  });
});

test('a worker that starts again uses the bundle that is there', async () => {
  const [bundle] = readdirSync(join(root, 'home/cache'))
    .filter((name) => name.endsWith('.bundle.js') && !name.endsWith('-kept.bundle.js'))
    .map((name) => join(root, 'home/cache', name))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  const madeAt = statSync(bundle!).mtimeMs;
  await worker.end();
  worker = parts.worker();
  await said(worker, /worker runs/);
  expect(statSync(bundle!).mtimeMs).toBe(madeAt);
});
