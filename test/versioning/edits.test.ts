/** Edits of workflows under `longhaul up` while operations are open: each ends with the code that it began with, or replays. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { globSync } from 'tinyglobby';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { eventually, kill, readText, TestHome } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';

// Each edit takes a run of the bundler and a start of Workers.
jest.setTimeout(2 * OUTAGE_MS);

const MAX_BUILDS = 3;

let home: TestHome;
let client: WireClient;

beforeEach(async () => {
  home = await TestHome.create();
  client = new WireClient(`${home.url}/mcp`);
});
afterEach(() => home.remove());

function write(name: string, text: string): void {
  const path = join(home.path, 'project', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const TOOL = `
import { defineTool } from 'longhaul';
export default defineTool({
  name: 'asking',
  description: { does: 'Asks.' },
  estimate: { seconds: 1 },
  input: { type: 'object', properties: {} },
  output: { type: 'object', properties: { words: { type: 'array', items: { type: 'string' } } } },
});`;

/** Runs a step, asks, runs another one; `first` decides whether it replays operations of an earlier edit. */
const workflow = (first: string, last: string) => `
import { proxyActivities } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';
const steps = proxyActivities({ startToCloseTimeout: '5m' });
export async function asking() {
  const words: string[] = [await steps['${first}']()];
  await requestInput({ type: 'object', properties: { ok: { type: 'boolean' } } }, 'Continue?');
  words.push(await steps['${last}'](), '${first} ${last}');
  return { words };
}`;

const NAMES = Array.from({ length: 8 }, (_, index) => `step_${index}`);
const ACTIVITIES = NAMES.map((name) => `export const ${name} = async () => '${name}';`).join('\n');

/** Entries of the worker's log. */
const entries = () =>
  readdirSync(join(home.path, 'logs'))
    .filter((name) => name.startsWith('worker'))
    .flatMap((name) => readText(join(home.path, 'logs', name)).split('\n'))
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, any>] : []));
const counted = (message: RegExp) => entries().filter(({ msg }) => message.test(msg)).length;
const said = (message: RegExp, times = 1) =>
  eventually(
    () =>
      `it says ${message} ${times} times; it said: ${entries()
        .slice(-20)
        .map(({ msg, err }) => `${msg} ${err?.message ?? ''}`)
        .join('\n')}`,
    () => counted(message) >= times,
    90_000,
  );
const TAKEN = /new operations go to this build/;
const REFUSED = /are not run yet/;

async function up(): Promise<void> {
  await home.up({ LONGHAUL_PROJECT: join(home.path, 'project') });
}

/** Starts an operation, and waits for its question and until Temporal's lists, which lag, show it: an edit looks for it there. */
async function ask(): Promise<string> {
  const taskId = await client.start('asking', {});
  await client.until(taskId, 'input_required');
  const connection = await Connection.connect({ address: home.state().temporalAddress! });
  try {
    const { workflow } = new Client({ connection });
    const query = `WorkflowId = '${taskId}' AND TemporalWorkflowVersioningBehavior = 'Pinned'`;
    await eventually('it is listed', async () => (await workflow.count(query)).count > 0);
  } finally {
    await connection.close();
  }
  return taskId;
}

async function finish(taskId: string): Promise<string[]> {
  const { inputRequests } = await client.until(taskId, 'input_required');
  await client.answer(taskId, Object.keys(inputRequests)[0]!, { action: 'accept', content: { ok: true } });
  return (await client.until(taskId, 'completed')).result.structuredContent.words;
}

test('seven edits, an operation open on each: three builds at most are served, and every operation ends on its own', async () => {
  write('tools/asking.ts', TOOL);
  write('activities/asking.ts', ACTIVITIES);
  write('workflows/asking.ts', workflow('step_0', 'step_0'));
  await up();
  await said(TAKEN);
  const open: { taskId: string; edit: number }[] = [{ taskId: await ask(), edit: 0 }];
  for (let edit = 1; edit <= 7; edit += 1) {
    const [taken, refused] = [counted(TAKEN), counted(REFUSED)];
    write('workflows/asking.ts', workflow(`step_${edit}`, `step_${edit}`));
    if (open.length < MAX_BUILDS) await said(TAKEN, taken + 1);
    else {
      await said(REFUSED, refused + 1);
      // The newest build that runs still takes new operations.
      const old = open.at(-1)!.edit;
      expect(await finish(await ask())).toEqual([`step_${old}`, `step_${old}`, `step_${old} step_${old}`]);
      const first = open.shift()!;
      const step = `step_${first.edit}`;
      expect(await finish(first.taskId)).toEqual([step, step, `${step} ${step}`]);
      await said(TAKEN, taken + 1);
    }
    open.push({ taskId: await ask(), edit });
  }
  for (const { taskId, edit } of open) {
    const step = `step_${edit}`;
    expect(await finish(taskId)).toEqual([step, step, `${step} ${step}`]);
  }
  const served = entries().flatMap(({ builds }) => (typeof builds === 'number' ? [builds] : []));
  expect(Math.max(...served)).toBeLessThanOrEqual(MAX_BUILDS);
  await eventually(
    'the older builds have ended',
    () => entries().findLast(({ builds }) => builds)?.['builds'] === 1,
  );
});

test('operations that replay are taken along, others wait for nothing, also after the worker was killed', async () => {
  write('tools/asking.ts', TOOL);
  write('activities/asking.ts', ACTIVITIES);
  write('workflows/asking.ts', workflow('step_0', 'step_0'));
  await up();
  await said(TAKEN);
  const taskId = await ask();
  write('workflows/asking.ts', workflow('step_0', 'step_1'));
  await said(TAKEN, 2);
  await said(/Workers of this build have ended/);
  write('workflows/asking.ts', workflow('step_2', 'step_2'));
  await said(TAKEN, 3);
  const later = await ask();
  const { worker } = home.parts();
  kill(worker);
  await eventually('another worker runs', () => home.parts().worker !== worker);
  expect(await finish(taskId)).toEqual(['step_0', 'step_1', 'step_0 step_1']);
  expect(await finish(later)).toEqual(['step_2', 'step_2', 'step_2 step_2']);
});

test('a kept build of another SDK is named with the command of its release, and nothing else waits for it', async () => {
  write('tools/asking.ts', TOOL);
  write('activities/asking.ts', ACTIVITIES);
  write('workflows/asking.ts', workflow('step_0', 'step_0'));
  await up();
  await said(TAKEN);
  await ask();
  await home.run(['down']).ended;
  const [info] = globSync('cache/builds-*/*.json', { cwd: home.path });
  const path = join(home.path, info!);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readText(path)), sdkVersion: '0.0.1' }));
  write('workflows/asking.ts', workflow('step_1', 'step_1'));
  await up();
  await said(TAKEN, 2);
  expect(await finish(await ask())).toEqual(['step_1', 'step_1', 'step_1 step_1']);
  await said(/1 open workflow of operations wait.* made with version 0\.0\.1 .*longhaul\.js worker --home /);
});
