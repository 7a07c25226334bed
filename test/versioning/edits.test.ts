/** Changed workflows under `longhaul up` while operations are open: taken up if these replay, else refused for their tool alone. */
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually, kill, readText, TestHome } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { writeFiles } from '../support/write-files.js';

// Each edit takes a run of the bundler, and some tests start the stack again.
jest.setTimeout(STACK_MS);

/** Each test edits tools of its own. */
const TOOLS = ['refused', 'other', 'packaged', 'stopped', 'moved'];

let home: TestHome;
let client: WireClient;
let project: string;

const write = (name: string, text: string) => writeFiles(project, { [name]: text });

const definition = (name: string) => `
import { defineTool } from 'longhaul';
export default defineTool({
  name: '${name}',
  description: { does: 'Asks.' },
  estimate: { seconds: 1 },
  input: { type: 'object', properties: {} },
  output: { type: 'object', properties: { words: { type: 'array', items: { type: 'string' } } } },
});`;

/** Runs a step, asks, runs another one: operations that ask replay it as long as \`first\` stays. */
const workflow = (name: string, first: string, last: string) => `
import { proxyActivities } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';
import { first } from 'words';
const steps = proxyActivities({ startToCloseTimeout: '5m' });
export async function ${name}() {
  const words: string[] = [await steps[${first}]()];
  await requestInput({ type: 'object', properties: { ok: { type: 'boolean' } } }, 'Continue?');
  words.push(await steps[${last}]());
  return { words };
}`;

const edit = (name: string, first: string, last: string) =>
  write(`workflows/${name}.ts`, workflow(name, `'${first}'`, `'${last}'`));

/** A package that decides the first step of `packaged`. */
const writePackage = (first: string) => write('node_modules/words/index.js', `exports.first = '${first}';`);

beforeAll(async () => {
  home = await TestHome.create();
  client = new WireClient(`${home.url}/mcp`);
  project = join(home.path, 'project');
  const steps = ['a', 'b', 'c'].map((step) => `export const ${step} = async () => '${step}';`);
  write('activities/steps.ts', steps.join('\n'));
  write('node_modules/words/package.json', '{ "name": "words", "version": "1.0.0" }');
  writePackage('a');
  for (const name of TOOLS) {
    write(`tools/${name}.ts`, definition(name));
    edit(name, 'a', 'b');
  }
  write('workflows/packaged.ts', workflow('packaged', 'first', "'b'"));
  await up();
}, STACK_MS);
afterAll(() => home?.remove());

const up = () => home.up({ LONGHAUL_PROJECT: project });

/** Entries of the worker's log. */
const entries = () =>
  readdirSync(join(home.path, 'logs'))
    .filter((name) => name.startsWith('worker'))
    .flatMap((name) => readText(join(home.path, 'logs', name)).split('\n'))
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, any>] : []));

/** The first entry, from the one at \`since\` on, that has a message and names a workflow. */
function said(message: RegExp, name: string, since: number): Promise<Record<string, any>> {
  const texts = () => entries().map(({ msg, err }) => `${msg} ${err?.message ?? ''}`);
  return eventually(
    () => `the worker says ${message} of ${name}; it said: ${texts().slice(-20).join('\n')}`,
    () =>
      entries()
        .slice(since)
        .find(({ msg, changed, tool }) => message.test(msg) && [changed, tool].flat().includes(name)),
  );
}
const LOADED = /workflows are loaded again/;
const REFUSED = /its changed code doesn't replay/;

/** Starts an operation, and waits for its question and until Temporal's lists, which lag, show it: an edit looks for it there. */
async function ask(name: string): Promise<string> {
  const taskId = await client.start(name, {});
  await client.until(taskId, 'input_required');
  const connection = await Connection.connect({ address: home.state().temporalAddress! });
  try {
    const { workflow: workflows } = new Client({ connection });
    const query = `WorkflowId = '${taskId}' AND ExecutionStatus = 'Running'`;
    await eventually('it is listed', async () => (await workflows.count(query)).count > 0);
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

const problems = async () =>
  ((await client.request('tools/list')).result._meta?.['longhaul/problems'] ?? []).join('\n');

test('an edit that does not replay is refused for its tool alone, and loaded once the named command has run; open operations that replay follow one', async () => {
  const open = [await ask('refused'), await ask('refused')];
  const followed = await ask('other');
  let since = entries().length;
  edit('refused', 'b', 'a');
  const { msg, tokens } = await said(REFUSED, 'refused', since);
  expect(tokens.sort()).toEqual([...open].sort());
  expect(msg).toMatch(/history has ActivityTaskScheduled a; .*workflows\/refused\.ts:\d+:\d+/);
  const [, ofCommand] = /\(longhaul cancel ([^)]+)\)/.exec(msg)!;
  expect(ofCommand!.split(' ').sort()).toEqual([...open].sort());
  await eventually('it is listed as a problem', async () => (await problems()).includes(open[0]!));

  // The other tool's edit isn't held up, and the refused one is no part of it.
  since = entries().length;
  edit('other', 'a', 'c');
  expect((await said(LOADED, 'other', since))['changed']).toEqual(['other']);
  expect(await finish(followed)).toEqual(['a', 'c']);
  expect(await finish(await ask('refused'))).toEqual(['a', 'b']);

  const { worker } = home.parts();
  kill(worker);
  await eventually('another worker runs', () => home.parts().worker !== worker);
  expect(await finish(open.pop()!)).toEqual(['a', 'b']);
  expect(await finish(await ask('refused'))).toEqual(['a', 'b']);
  expect(await finish(await ask('other'))).toEqual(['a', 'c']);

  since = entries().length;
  expect(await home.run(['cancel', ...ofCommand!.split(' ')]).ended).toBe(0);
  await said(LOADED, 'refused', since);
  expect(await finish(await ask('refused'))).toEqual(['b', 'a']);
  await eventually('no problem is left', async () => !(await problems()).includes('refused'));
});

test('after edits and package updates while the stack was down, only operations that do not replay are held up', async () => {
  const [stopped, packaged, unchanged] = [await ask('stopped'), await ask('packaged'), await ask('moved')];
  expect(await home.run(['down']).ended).toBe(0);
  const since = entries().length;
  edit('stopped', 'b', 'a');
  writePackage('b');
  await up();
  expect((await said(REFUSED, 'stopped', since))['msg']).toContain(`(longhaul cancel ${stopped})`);
  // The package has no copy of how it was.
  const waiting = await said(REFUSED, 'packaged', since);
  expect(waiting['msg']).toMatch(
    new RegExp(`They wait .*: temporal workflow terminate .*"WorkflowId IN \\('${packaged}'\\)"$`),
  );
  expect(await finish(unchanged)).toEqual(['a', 'b']);
  expect(await finish(await ask('packaged'))).toEqual(['b', 'b']);
  expect(await finish(await ask('stopped'))).toEqual(['a', 'b']);
  expect(await finish(stopped)).toEqual(['a', 'b']);
  await said(LOADED, 'stopped', since);
  expect(await finish(await ask('stopped'))).toEqual(['b', 'a']);

  writePackage('a');
  const { worker } = home.parts();
  kill(worker);
  await eventually('another worker runs', () => home.parts().worker !== worker);
  expect(await finish(packaged)).toEqual(['a', 'b']);
});

test('a project that was moved strands nothing', async () => {
  const open = await ask('moved');
  expect(await home.run(['down']).ended).toBe(0);
  const moved = join(home.path, 'elsewhere');
  renameSync(project, moved);
  project = moved;
  await up();
  expect(await finish(open)).toEqual(['a', 'b']);
});
