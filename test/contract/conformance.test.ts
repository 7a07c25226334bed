/** `longhaul conformance` over workers in three languages, and over workers with defects. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { check } from '../../operations/tool/schema.js';
import { Caller } from '../operation-tools/support.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, forThisTest, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { python, startGo, startPython } from './workers.js';

/** A mapping to a query and an update that the worker lacks. */
const UNNEEDED = 'question: { query: nothing, answer: { update: nothing } }\n';

const pythonWorker = await forAllTests(startPython('contract_worker.py'));
const goWorker = await forAllTests(startGo());
const project = temporaryFolder('contract');
cpSync('test/contract/project', project, { recursive: true });
mkdirSync(join(project, 'tools'));
for (const [name, { taskQueue }] of [
  ['asks_in_python', pythonWorker],
  ['asks_in_go', goWorker],
] as const)
  writeFileSync(
    join(project, 'tools', `${name}.yaml`),
    `workflow: { type: ContractQuestion, task-queue: ${taskQueue} }\nargs: []\n${name === 'asks_in_go' ? UNNEEDED : ''}`,
  );
// The conformance check's starts are nobody's, so they have no signature.
// A stack of its own: it takes starts without a signature.
const stack = await forAllTests(
  TestStack.start({ LONGHAUL_PROJECT: project, LONGHAUL_UNSIGNED_STARTS: 'allow' }),
);
const workers = { python: pythonWorker, go: goWorker, typescript: stack };

interface Conformance {
  ok: boolean;
  checks: { ok: boolean; workflow: string; requirement: string; problem?: string }[];
}

async function conformance(
  taskQueue: string,
  ...args: string[]
): Promise<Conformance & { exitCode: number }> {
  const command = ['dist/bin/longhaul.js', 'conformance', '--task-queue', taskQueue, '--json', ...args];
  const child = spawn(process.execPath, command, { env: { ...process.env, NODE_OPTIONS: '' } });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const exitCode = await new Promise<number>((settle) => child.once('close', settle));
  if (!output) throw new Error(errors);
  return { ...(JSON.parse(output) as Conformance), exitCode };
}

const failedOf = ({ checks }: Conformance) =>
  checks.filter(({ ok }) => !ok).map(({ workflow, requirement }) => `${workflow}: ${requirement}`);

test('workers with the libraries for Python, Go and TypeScript meet all requirements', async () => {
  const reports = await Promise.all(
    Object.entries(workers).map(async ([language, { taskQueue }]) => ({
      language,
      ...(await conformance(taskQueue)),
    })),
  );
  for (const { language, ok, exitCode, checks } of reports) {
    expect([language, checks.filter((check) => !check.ok)]).toEqual([language, []]);
    expect(checks.length).toBeGreaterThan(45);
    expect([language, ok, exitCode]).toEqual([language, true, 0]);
  }
});

const DEFECTS = [
  ['reuse_keys', '3', 'ContractQuestion: the workflow continues with the answer'],
  ['accept_every_answer', '3', 'ContractQuestion: of two racing answers, one is accepted'],
  ['write_large_memos', '4', 'ContractPartial: a large one is not, and the memo says so'],
  ['write_long_texts', '2', 'ContractProgress: each memo field fits its schema and its limit'],
  ['write_every_field', '4', 'ContractPartial: an activity that ends rewrites only the memo operation'],
  ['keep_status', '3', 'ContractContinue: LonghaulStatus is unset while no question is open'],
] as const;
test.each(DEFECTS)(
  'a worker with the defect %s fails at the requirement that it breaks',
  async (defect, level, requirement) => {
    const worker = await forThisTest(startPython(resolve('test/contract/wrong_worker.py'), defect));

    const report = await conformance(worker.taskQueue, '--level', level, '--timeout-seconds', '15');
    expect(failedOf(report)).toEqual(expect.arrayContaining([requirement]));
    expect([report.ok, report.exitCode]).toEqual([false, 1]);
  },
);

test.each(['python', 'go'] as const)(
  'a tool over a workflow of the %s worker needs no mapping, and heeds none: it is read and answered as one of Longhaul',
  async (language) => {
    const token = await stack.client.start(`asks_in_${language}`, {});
    const caller = new Caller(stack.client);
    const answers = [{ confirm: true }, { count: 2 }, { confirm: false }];
    for (const [index, content] of answers.entries()) {
      const key = await eventually(`question ${index + 1}`, async () => {
        const { status, input_required = {} } = await caller.get('operation_get', { token, view: 'full' });
        const [open] = Object.keys(input_required);
        return status === 'input_required' && open === `input-${index + 1}` ? open : undefined;
      });
      await caller.get('operation_answer', { token, key, content });
    }
    const { status, result } = await caller.settled(token);
    expect(status).toBe('completed');
    expect(result).toEqual({ confirm: { confirm: true }, count: { count: 2 }, last: 'accept' });
  },
);

interface Case {
  name: string;
  property: Record<string, unknown>;
  fit: unknown[];
  misfit: unknown[];
}

test('the runtime and the library for Python accept the same answers', async () => {
  const cases = JSON.parse(readFileSync('docs/runtime-contract/answers.json', 'utf8')) as Case[];
  for (const { name, property, fit, misfit } of cases) {
    const schema = { type: 'object', properties: { x: property }, required: ['x'] };
    for (const x of fit) expect([name, x, check(schema, { x }, 'content')]).toEqual([name, x, []]);
    for (const x of misfit) expect([name, x, check(schema, { x }, 'content')]).not.toEqual([name, x, []]);
  }
  expect(await python('-m', 'unittest', 'tests/test_answers.py')).toContain('OK');
});

test('the library for Python keeps memo fields within their limits, and continues from them', async () => {
  expect(await python('-m', 'unittest', 'tests/test_memo.py')).toMatch(/Ran 3 tests[^]*OK/);
});

test('the library for Python keeps types of results, progress of failed activities and default answers', async () => {
  expect(await python('-m', 'unittest', 'tests/test_workflows.py')).toMatch(/Ran 4 tests[^]*OK/);
});
