/** Mistakes that loop or are lost at run time: `longhaul check` names each with its place and a cure, without `tsconfig.json` too. */
import { beforeAll, expect, test } from '@jest/globals';
import { casesOf, marked, patternOf } from '../pipelines/language-support.js';
import { check, tool, workflow, type Checked } from './checked-project.js';

const TEMPORAL = "import { proxyActivities, sleep, condition, executeChild } from '@temporalio/workflow';\n";
const POUR = "const { pour } = proxyActivities({ startToCloseTimeout: '1m' });\n";
const ANY = "proxyActivities<any>({ startToCloseTimeout: '1m' })";

/** Options of a tool; `▸` marks the place of the mistake. Behind `=>`: texts of the message, between bars. */
const OPTIONS = `
▸input: { cups: z.number(), note: z.string().optional() }
=> got an object of schemas | write z.object({ cups: z.number(), note: ... })
INPUT, ▸output: { cups: z.number() }
=> output: expected a schema | z.object({ cups
INPUT, questions: { ▸size: { cups: z.number() } }
=> questions.size: expected a schema | z.object({ cups
▸input: { cups: { type: 'number' } }
=> got no type | properties: { cups
INPUT, ▸deadlineSeconds: 1e12
=> deadlineSeconds | at most 31536000
INPUT, queue: { ▸concurency: 2 }
=> queue.concurency: unknown | "concurrency"
INPUT, annotations: { ▸destructive: true }
=> annotations.destructive: unknown | "destructiveHint"
INPUT, output: z.object({ n: z.number() }), ▸toText: () => { throw new Error('no text'); }
=> toText: ...no text | expected text
INPUT, output: z.object({ n: z.number() }), ▸toText: (output) => output
=> toText: ...got object | expected text
`;

/** Bodies of a workflow. */
const BODIES = `
return ▸fetch('http://x');
=> has no fetch | in an activity
return ▸process.env.HOME;
=> has no process | activity
return ▸crypto.randomUUID();
=> has no crypto | uuid4()
return ▸Buffer.from('x');
=> has no Buffer | activity
▸setInterval(() => undefined, 10);
=> has no setInterval | sleep()
return executeChild(▸'misspelled');
=> exports a workflow "misspelled" | did you mean "misspelt"
await sleep(▸'5 minuts');
=> got '5 minuts' | '10m'
▸pour();
=> pour() is not awaited | write await pour
return { n: ▸pour() };
=> pour() is not awaited | await pour
return \`\${▸pour()}\`;
=> pour() is not awaited | await pour
const n = ▸pour(); return n + 1;
=> pour() is not awaited | await pour
return ▸pour().total;
=> pour() is not awaited | await pour
▸sleep('1m');
=> sleep() is not awaited | await sleep
▸Promise.all([pour(), pour()]);
=> Promise.all() is not awaited | await Promise.all
▸items.forEach(async () => { await pour(); });
=> forEach() does not wait | for (const ... of
`;

/** Proxies of activities; `c` pours. */
const PROXIES = `
const c = proxyActivities<any>(▸{});
=> expected startToCloseTimeout | '10m'
const c = ▸proxyActivities<any>();
=> expected startToCloseTimeout | '10m'
const c = proxyActivities<any>({ ▸startToCloseTimeout: '1 minit' });
=> got '1 minit' | '10m'
const c = proxyActivities<any>({ ▸startToCloseTimeout: 0 });
=> above 0 | '10m'
const c = proxyActivities<any>({ ▸startToCloseTimeout: 30 });
=> 30 ms | '30s'
const c = proxyActivities<any>({ startToCloseTimeout: '1m', ▸retries: 3 });
=> retries: unknown option | retry: { maximumAttempts: 3 }
const c = proxyActivities<any>({ startToCloseTimeout: '1m', retry: { ▸maxAttempts: 3 } });
=> retry.maxAttempts: unknown | maximumAttempts
const options = { ▸startToCloseTimout: '1m' }; const c = proxyActivities<any>(options);
=> startToCloseTimout: unknown | "startToCloseTimeout"
`;

/** Other files: their path in the first line. */
const FILES = `
tools/second.ts
${tool('NAME')}
export const second = defineTool({ name: ▸'other', description: { does: 'x' }, estimate: { seconds: 1 }, input: { type: 'object' } });
=> "other" is not served | move it to tools/other.ts
tools/more/deep.ts
${tool('deep').replace('defineTool({', '▸defineTool({')}
=> not served | move it there
tools/helper.ts
export const helper = 1;
=> default export | lib/
tools/empty.ts

=> default export | defineTool()
tools/texts.ts
throw 'no database';
=> throws 'no database' | throw an Error
tools/objects.ts
throw { code: 7 };
=> throws { code: 7 } | throw an Error
tools/circle.ts
▸import { circle } from '../workflows/circle.js';
${tool('circle', "input: { type: 'object', properties: {} }, title: circle.name")}
=> import each other | lib/
workflows/circle.ts
import brew from '../tools/circle.js';
export async function circle() { return brew.name; }
=> ok, workflow circle
lib/remote.ts
export const remote = () => ▸fetch('x');
=> has no fetch | activity
workflows/remote.ts
import { remote } from '../lib/remote.js';
export async function remotely() { return remote(); }
=> ok, workflow remotely
workflows/tars.ts
import { create } from ▸'tar';
export async function tars() { return create; }
=> can't import "tar", which needs Node.js: " | in an activity
workflows/wrong.ts
import { progress } from ▸'longhaul/activity';
export async function wrong() { return progress; }
=> can't import "longhaul/activity" | in an activity
workflows/misspelt.ts
${TEMPORAL}const { ▸poor } = ${ANY};
export async function misspelt() { return await poor(); }
=> exports an activity "poor" | did you mean "pour"
workflows/all.ts
${TEMPORAL}const c = ${ANY};
export async function all() { return c.▸poor(); }
=> exports an activity "poor" | "pour"
workflows/hidden.ts
${TEMPORAL}const { ▸hidden: h } = ${ANY};
export async function hides() { return h(); }
=> activity "hidden" | expected export async function hidden()
workflows/helped.ts
import { acts } from '../lib/acts.js';
export async function helped() { return acts.▸porr(); }
=> activity "porr" | "pour"
workflows/helper.ts
${TEMPORAL}${POUR}export async function helper() {
  ▸work();
}
async function work() { await pour(); }
=> work() is not awaited | await work
workflows/asked.ts
import { requestInput } from 'longhaul/workflow';
export async function asked() {
  ▸requestInput({ type: 'object' }, 'Go?');
}
=> requestInput() is not awaited | await requestInput
activities/act.ts
export const pour = async () => 1;
export const CUPS = 3;
export class Spilt extends Error {}
async function hidden() {}
void hidden;
=> ok, activity pour
activities/none.ts

=> ok, no activities
workflows/none.ts
async function none() {}
void none;
=> ok, no workflows
`;

const INPUT = "input: { type: 'object', properties: {} }";
const ROWS = [
  ...casesOf(OPTIONS).map(([text, words], at): [string, string, string] => {
    const name = `options${at}`;
    return [`tools/${name}.ts`, tool(name, text.replace('INPUT', INPUT)), words];
  }),
  ...casesOf(BODIES).map(([text, words], at): [string, string, string] => {
    const code = `${TEMPORAL}${POUR}export async function body${at}(items = []) {\n  ${text}\n}\n`;
    return [`workflows/body${at}.ts`, code, words];
  }),
  ...casesOf(PROXIES).map(([text, words], at): [string, string, string] => {
    const code = `${TEMPORAL}${text}\nexport async function proxy${at}() { return c.pour(); }\n`;
    return [`workflows/proxy${at}.ts`, code, words];
  }),
  ...casesOf(FILES).map(([text, words]): [string, string, string] => {
    const [path, ...lines] = text.split('\n');
    return [path!, lines.join('\n').replaceAll('NAME', 'second'), words];
  }),
];
/** Not checked by itself: a workflow imports it. */
const ACTS = {
  'lib/acts.ts': `import { proxyActivities } from '@temporalio/workflow';\nexport const acts = ${ANY};\n`,
};

let checked: Checked;
beforeAll(async () => {
  const files = ROWS.map(([path, code]) => [path, code.replace('▸', '')]);
  const works = [...casesOf(OPTIONS).map((_, at) => `options${at}`), 'second'].map((name) => [
    `workflows/of-${name}.ts`,
    workflow(name),
  ]);
  checked = await check({ ...ACTS, ...Object.fromEntries([...files, ...works]) });
});

test.each(ROWS)('%s has one line, with place and cure', (path, code, words) => {
  const place = code.includes('▸') ? `:${marked(code).place}` : '';
  const lines = checked.lines.filter((line) => line.startsWith(`${path}:`));
  expect(lines).toEqual([expect.stringContaining(`${path}${place}: `)]);
  for (const word of words.split(' | ')) expect(lines[0]).toMatch(patternOf(word));
  expect(checked.code).toBe(1);
});

test('process.exit() in a tool is named with its line', async () => {
  const { lines } = await check({ 'tools/exits.ts': `${tool('exits')}process.exit(0);\n` });
  expect(lines[0]).toMatch(/^tools\/exits\.ts:12: .*ends the process.*process\.exit\(\)/);
});

test('what is right is left alone', async () => {
  const { lines, code } = await check({
    'workflows/fine.ts': `import * as wf from '@temporalio/workflow';
import { proxyActivities, sleep, condition, uuid4, proxyLocalActivities } from '@temporalio/workflow';
const LONG = { startToCloseTimeout: '2 hours', retry: { maximumAttempts: 3, initialInterval: 500 } };
const { pour, pour: again } = proxyActivities<any>(LONG);
const { other } = proxyActivities<any>({ taskQueue: 'else', startToCloseTimeout: 60_000 });
const local = proxyLocalActivities<any>({ ...LONG, scheduleToCloseTimeout: '1.5h' });
let count = 0;
const at = Math.random();
export async function fine(process: { n: number }) {
  const started = pour();
  void again();
  pour().catch(() => undefined);
  await Promise.all([1, 2].map((n) => local.pour(n)));
  if (typeof fetch === 'function') count += process.n;
  await sleep(0);
  await condition(() => count > 0, '30s');
  const open = [pour(), other()];
  await Promise.race(open);
  const { total } = await pour();
  await wf.executeChild('elsewhere', { taskQueue: 'else' });
  const pair = { a: pour() };
  return { id: uuid4(), at, total, first: await started, second: await pair.a, url: new URL('http://x').href };
}
`,
    'activities/act.ts': 'export async function pour() {}\n',
    'tools/fine.test.ts': "throw new Error('a test');\n",
    'tools/fine.spec.js': "throw new Error('a test');\n",
    'tools/lib/helper.ts': 'export const helper = 1;\n',
    'tools/fine.ts': tool('fine'),
  });
  expect(lines.filter((line) => !/: ok|^types/.test(line))).toEqual([]);
  expect(code).toBe(0);
});

test('a default export of activities is named, because it runs for every misspelt one', async () => {
  const { lines, code } = await check({ 'activities/act.ts': '\nexport default async function () {}\n' });
  expect(lines[0]).toMatch(/^activities\/act\.ts:2:1: the default export .*give it a name/);
  expect(code).toBe(1);
});

test.each([
  [
    'an await that never ends',
    'tools/waits.ts',
    'await new Promise(() => {});\n',
    /^tools\/waits\.ts:1:1: .*still being loaded after 10 s; await in a function/,
  ],
  [
    'an await in activities',
    'activities/waits.ts',
    '\nconst x = await new Promise(() => {});\nvoid x;\n',
    /^activities\/waits\.ts:2:1: .*await in a function/,
  ],
  [
    'an endless loop',
    'activities/loops.ts',
    'for (;;) {}\n',
    /^\S*activities\/loops\.ts: .*after 20 s of work; is there an endless loop at its top\?/,
  ],
])('the check of a file with %s ends, and names it', async (_, path, code, message) => {
  const checked = await check({ [path]: code });
  expect(checked.lines).toContainEqual(expect.stringMatching(message));
  expect(checked.code).not.toBe(0);
});
