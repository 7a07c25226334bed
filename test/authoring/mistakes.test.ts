/** Mistakes that loop or are lost at run time: `longhaul check` names each with its place and a cure, without `tsconfig.json` too. */
import { beforeAll, expect, test } from '@jest/globals';
import { check, tool, workflow, type Checked } from './checked-project.js';

const TEMPORAL = "import { proxyActivities, sleep, condition, executeChild } from '@temporalio/workflow';\n";
const POUR = "const { pour } = proxyActivities({ startToCloseTimeout: '1m' });\n";
const INPUT = "input: { type: 'object', properties: {} }";
/** A workflow whose body is this line, the fourth of its file. */
const body = (line: string) => `${TEMPORAL}${POUR}export async function NAME(items = []) {\n  ${line}\n}\n`;
/** A proxy on the second line. */
const proxy = (line: string) => `${TEMPORAL}${line}\nexport async function NAME() { return c.pour(); }\n`;

type Row = [mistake: string, path: string, code: string, place: string, words: RegExp, cure: RegExp];

const ROWS: Row[] = [
  [
    'fields instead of a schema',
    'tools/fields.ts',
    tool('fields', 'input: { cups: z.number(), note: z.string().optional() }'),
    '9:3',
    /got an object of schemas/,
    /write z\.object\(\{ cups: z\.number\(\), note: \.\.\. \}\)/,
  ],
  [
    'fields as an output',
    'tools/outputs.ts',
    tool('outputs', `${INPUT},\n  output: { cups: z.number() }`),
    '10:3',
    /output: expected a schema/,
    /z\.object\(\{ cups/,
  ],
  [
    'fields as a question',
    'tools/asks.ts',
    tool('asks', `${INPUT},\n  questions: { size: { cups: z.number() } }`),
    '10:16',
    /questions\.size: expected a schema/,
    /z\.object\(\{ cups/,
  ],
  [
    'properties instead of a schema',
    'tools/properties.ts',
    tool('properties', "input: { cups: { type: 'number' } }"),
    '9:3',
    /got no type/,
    /properties: \{ cups: /,
  ],
  [
    'a deadline of centuries',
    'tools/forever.ts',
    tool('forever', `${INPUT},\n  deadlineSeconds: 1e12`),
    '10:3',
    /deadlineSeconds/,
    /at most 31536000/,
  ],
  [
    'a misspelt key of a queue',
    'tools/queued.ts',
    tool('queued', `${INPUT},\n  queue: { concurency: 2 }`),
    '10:12',
    /queue\.concurency: unknown/,
    /"concurrency"/,
  ],
  [
    'a short annotation',
    'tools/hinted.ts',
    tool('hinted', `${INPUT},\n  annotations: { destructive: true }`),
    '10:18',
    /annotations\.destructive: unknown/,
    /"destructiveHint"/,
  ],
  [
    'a second tool',
    'tools/two.ts',
    `${tool('two')}\nexport const second = defineTool({ name: 'second', description: { does: 'x' }, estimate: { seconds: 1 }, ${INPUT} });\n`,
    '13:42',
    /"second" is not served/,
    /move it to tools\/second\.ts/,
  ],
  ['a tool in a folder', 'tools/more/deep.ts', tool('deep'), '5:16', /not served/, /move it there/],
  ['a helper among tools', 'tools/helper.ts', 'export const helper = 1;\n', '', /default export/, /lib\//],
  ['an empty tool', 'tools/empty.ts', '', '', /default export/, /defineTool\(\)/],
  ['a thrown text', 'tools/texts.ts', "throw 'no database';\n", '', /throws 'no database'/, /throw an Error/],
  [
    'a thrown object',
    'tools/objects.ts',
    'throw { code: 7 };\n',
    '',
    /throws \{ code: 7 \}/,
    /throw an Error/,
  ],
  [
    'a text that throws',
    'tools/said.ts',
    tool(
      'said',
      `${INPUT},\n  output: z.object({ n: z.number() }),\n  toText: () => {\n    throw new Error('no text');\n  }`,
    ),
    '11:3',
    /toText: .*no text/,
    /expected text/,
  ],
  [
    'a toText that gives an object',
    'tools/silent.ts',
    tool('silent', `${INPUT},\n  output: z.object({ n: z.number() }),\n  toText: (output) => output`),
    '11:3',
    /toText: .*got object/,
    /expected text/,
  ],
  [
    'process.exit() in a tool',
    'tools/exits.ts',
    `${tool('exits')}process.exit(0);\n`,
    '12',
    /ends the process/,
    /process\.exit\(\)/,
  ],

  [
    'fetch',
    'workflows/fetches.ts',
    body("return fetch('http://x');"),
    '4:10',
    /has no fetch/,
    /in an activity/,
  ],
  [
    'the environment',
    'workflows/environment.ts',
    body('return process.env.HOME;'),
    '4:10',
    /has no process/,
    /activity/,
  ],
  ['a UUID', 'workflows/uuid.ts', body('return crypto.randomUUID();'), '4:10', /has no crypto/, /uuid4\(\)/],
  ['a buffer', 'workflows/buffer.ts', body("return Buffer.from('x');"), '4:10', /has no Buffer/, /activity/],
  [
    'an interval',
    'workflows/interval.ts',
    body('setInterval(() => undefined, 10);'),
    '4:3',
    /has no setInterval/,
    /sleep\(\)/,
  ],
  [
    'fetch in a helper',
    'lib/remote.ts',
    "\nexport const remote = () => fetch('x');\n",
    '2:29',
    /has no fetch/,
    /activity/,
  ],
  [
    'the helper of it',
    'workflows/remote.ts',
    "import { remote } from '../lib/remote.js';\nexport async function remotely() { return remote(); }\n",
    '',
    /ok, workflow remotely/,
    /ok/,
  ],
  [
    'a package that needs Node.js',
    'workflows/tars.ts',
    "\nimport { create } from 'tar';\nexport async function tars() { return create; }\n",
    '2:24',
    /can't import "tar", which needs Node\.js: "[\w:]+"/,
    /in an activity/,
  ],
  [
    'helpers of activities',
    'workflows/wrong.ts',
    "import { progress } from 'longhaul/activity';\nexport async function wrong() { return progress; }\n",
    '1:26',
    /can't import "longhaul\/activity"/,
    /in an activity/,
  ],

  [
    'a misspelt activity',
    'workflows/misspelt.ts',
    `${TEMPORAL}const { poor } = proxyActivities<any>({ startToCloseTimeout: '1m' });\nexport async function misspelt() { return await poor(); }\n`,
    '2:9',
    /exports an activity "poor"/,
    /did you mean "pour"/,
  ],
  [
    'a misspelt activity of all',
    'workflows/all.ts',
    proxy("const c = proxyActivities<any>({ startToCloseTimeout: '1m' });").replace('c.pour', 'c.poor'),
    '3:40',
    /exports an activity "poor"/,
    /"pour"/,
  ],
  [
    'an activity that is not exported',
    'workflows/hidden.ts',
    `${TEMPORAL}const { hidden: h } = proxyActivities<any>({ startToCloseTimeout: '1m' });\nexport async function NAME() { return h(); }\n`,
    '2:9',
    /activity "hidden"/,
    /expected export async function hidden\(\)/,
  ],
  [
    'activities of a helper',
    'lib/acts.ts',
    "import { proxyActivities } from '@temporalio/workflow';\nexport const acts = proxyActivities<any>({ startToCloseTimeout: '1m' });\n",
    '',
    /./,
    /./,
  ],
  [
    'a misspelt one of these',
    'workflows/helped.ts',
    "import { acts } from '../lib/acts.js';\nexport async function helped() { return acts.porr(); }\n",
    '2:46',
    /activity "porr"/,
    /"pour"/,
  ],
  [
    'a misspelt child',
    'workflows/parent.ts',
    body("return executeChild('misspelled');"),
    '4:23',
    /exports a workflow "misspelled"/,
    /did you mean "misspelt"/,
  ],
  [
    'no time-out',
    'workflows/untimed.ts',
    proxy('const c = proxyActivities<any>({});'),
    '2:32',
    /expected startToCloseTimeout/,
    /'10m'/,
  ],
  [
    'no options',
    'workflows/bare.ts',
    proxy('const c = proxyActivities<any>();'),
    '2:11',
    /expected startToCloseTimeout/,
    /'10m'/,
  ],
  [
    'a misspelt duration',
    'workflows/minit.ts',
    proxy("const c = proxyActivities<any>({ startToCloseTimeout: '1 minit' });"),
    '2:34',
    /got '1 minit'/,
    /'10m'/,
  ],
  [
    'a duration of nothing',
    'workflows/zero.ts',
    proxy('const c = proxyActivities<any>({ startToCloseTimeout: 0 });'),
    '2:34',
    /above 0/,
    /'10m'/,
  ],
  [
    'milliseconds by mistake',
    'workflows/short.ts',
    proxy('const c = proxyActivities<any>({ startToCloseTimeout: 30 });'),
    '2:34',
    /30 ms/,
    /'30s'/,
  ],
  [
    'retries',
    'workflows/retries.ts',
    proxy("const c = proxyActivities<any>({ startToCloseTimeout: '1m', retries: 3 });"),
    '2:61',
    /retries: unknown option/,
    /retry: \{ maximumAttempts: 3 \}/,
  ],
  [
    'attempts of a retry',
    'workflows/attempts.ts',
    proxy("const c = proxyActivities<any>({ startToCloseTimeout: '1m', retry: { maxAttempts: 3 } });"),
    '2:70',
    /retry\.maxAttempts: unknown/,
    /maximumAttempts/,
  ],
  [
    'a misspelt option',
    'workflows/option.ts',
    proxy("const options = { startToCloseTimout: '1m' };\nconst c = proxyActivities<any>(options);"),
    '2:19',
    /startToCloseTimout: unknown/,
    /"startToCloseTimeout"/,
  ],
  [
    'a misspelt sleep',
    'workflows/sleeps.ts',
    body("await sleep('5 minuts');"),
    '4:15',
    /got '5 minuts'/,
    /'10m'/,
  ],

  [
    'an activity without await',
    'workflows/floats.ts',
    body('pour();'),
    '4:3',
    /pour\(\) is not awaited/,
    /write await pour/,
  ],
  [
    'a promise in a result',
    'workflows/returned.ts',
    body('return { n: pour() };'),
    '4:15',
    /pour\(\) is not awaited/,
    /await pour/,
  ],
  [
    'a promise in a text',
    'workflows/texted.ts',
    body('return `${pour()}`;'),
    '4:13',
    /pour\(\) is not awaited/,
    /await pour/,
  ],
  [
    'a promise that is taken for its value',
    'workflows/value.ts',
    body('const n = pour();\n  return n + 1;'),
    '4:13',
    /pour\(\) is not awaited/,
    /await pour/,
  ],
  [
    'a field of a promise',
    'workflows/field.ts',
    body('return pour().total;'),
    '4:10',
    /pour\(\) is not awaited/,
    /await pour/,
  ],
  [
    'a sleep without await',
    'workflows/slept.ts',
    body("sleep('1m');"),
    '4:3',
    /sleep\(\) is not awaited/,
    /await sleep/,
  ],
  [
    'a helper without await',
    'workflows/helper.ts',
    `${body('work();')}async function work() { await pour(); }\n`,
    '4:3',
    /work\(\) is not awaited/,
    /await work/,
  ],
  [
    'promises without await',
    'workflows/together.ts',
    body('Promise.all([pour(), pour()]);'),
    '4:3',
    /Promise\.all\(\) is not awaited/,
    /await Promise\.all/,
  ],
  [
    'forEach with await',
    'workflows/each.ts',
    body('items.forEach(async () => { await pour(); });'),
    '4:3',
    /forEach\(\) does not wait/,
    /for \(const \.\.\. of/,
  ],
  [
    'a question without await',
    'workflows/asked.ts',
    "import { requestInput } from 'longhaul/workflow';\nexport async function asked() {\n  requestInput({ type: 'object' }, 'Go?');\n}\n",
    '3:3',
    /requestInput\(\) is not awaited/,
    /await requestInput/,
  ],
  [
    'imports in a circle',
    'tools/circle.ts',
    `import { circle } from '../workflows/circle.js';\n${tool('circle', `${INPUT},\n  title: circle.name`)}`,
    '1:1',
    /import each other/,
    /lib\//,
  ],
  [
    'the other half',
    'workflows/circle.ts',
    "import brew from '../tools/circle.js';\nexport async function circle() { return brew.name; }\n",
    '',
    /ok/,
    /circle/,
  ],

  [
    'what activities are',
    'activities/act.ts',
    'export const pour = async () => 1;\nexport const CUPS = 3;\nexport class Spilt extends Error {}\nasync function hidden() {}\nvoid hidden;\n',
    '',
    /ok, activity pour$/,
    /./,
  ],
  ['an empty file of activities', 'activities/none.ts', '', '', /ok, no activities$/, /./],
  [
    'a workflow without export',
    'workflows/none.ts',
    'async function none() {}\nvoid none;\n',
    '',
    /ok, no workflows$/,
    /./,
  ],
];

const named = (path: string, code: string) => code.replaceAll('NAME', /(\w+)\.ts$/.exec(path)![1]!);

let checked: Checked;
beforeAll(async () => {
  const files = ROWS.map(([, path, code]) => [path, named(path, code)] as const);
  const works = ['said', 'silent', 'two'].map((name) => [`workflows/of-${name}.ts`, workflow(name)] as const);
  checked = await check(Object.fromEntries([...files, ...works]));
});

test.each(ROWS.filter(([, path]) => path !== 'lib/acts.ts'))('%s', (_, path, _code, place, words, cure) => {
  const lines = checked.lines.filter((line) => line.startsWith(`${path}:`));
  expect(lines).toHaveLength(1);
  expect(lines[0]!.startsWith(`${path}:${place && `${place}:`} `)).toBe(true);
  expect(lines[0]).toMatch(words);
  expect(lines[0]).toMatch(cure);
  expect(checked.code).toBe(1);
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
