/** `longhaul conformance` over workers in three languages, and over workers with defects. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { check } from '../../operations/schema.js';
import { START_MEMO, type StartMemo } from '../../operations/wire.js';
import { Caller } from '../operation-tools/support.js';
import { eventually } from '../stack/cli-process.js';
import { INSTALL_MS, PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { python, startGo, startPython, type RunningWorker } from './workers.js';

let stack: TestStack;
let workers: Record<'python' | 'go' | 'typescript', { taskQueue: string }>;
const running: RunningWorker[] = [];

beforeAll(async () => {
  // The conformance check's starts are nobody's, so they have no signature.
  const own = { LONGHAUL_PROJECT: resolve('test/contract/project'), LONGHAUL_UNSIGNED_STARTS: 'allow' };
  stack = await TestStack.start(own);
  running.push(await startPython('contract_worker.py'), await startGo());
  workers = { python: running[0]!, go: running[1]!, typescript: stack };
}, INSTALL_MS);
afterAll(async () => {
  await Promise.all(running.map((worker) => worker.stop()));
  await stack?.stop();
});

interface Conformance {
  ok: boolean;
  checks: { ok: boolean; workflow: string; requirement: string; problem?: string }[];
}

async function conformance(
  taskQueue: string,
  ...args: string[]
): Promise<Conformance & { exitCode: number }> {
  const command = ['dist/cli/main.js', 'conformance', '--task-queue', taskQueue, '--json', ...args];
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

test.each(['python', 'go', 'typescript'] as const)(
  'a worker with the library for %s meets all requirements',
  async (language) => {
    const report = await conformance(workers[language].taskQueue);
    expect(report.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(report.checks.length).toBeGreaterThan(45);
    expect([report.ok, report.exitCode]).toEqual([true, 0]);
  },
  PROCESSES_MS,
);

test.each([
  ['reuse_keys', '3', 'ContractQuestion: the workflow continues with the answer'],
  ['accept_every_answer', '3', 'ContractQuestion: of two racing answers, one is accepted'],
  ['write_large_memos', '4', 'ContractPartial: a large one is not, and the memo says so'],
])(
  'a worker with the defect %s fails',
  async (defect, level, requirement) => {
    const worker = await startPython(resolve('test/contract/wrong_worker.py'), defect);
    try {
      const report = await conformance(worker.taskQueue, '--level', level, '--timeout-seconds', '15');
      expect(failedOf(report)).toContain(requirement);
      expect([report.ok, report.exitCode]).toEqual([false, 1]);
    } finally {
      await worker.stop();
    }
  },
  PROCESSES_MS,
);

test.each(['python', 'go'] as const)(
  "the server shows a workflow of the %s worker as its own, and takes an agent's answers to it",
  async (language) => {
    const token = randomUUID();
    const memo: StartMemo = {
      version: 1,
      tool: 'ContractQuestion',
      principal: 'anonymous',
      argumentsDigest: '',
      deadlineSeconds: 600,
      keepAliveSeconds: 600,
      searchAttributes: false,
      attempt: 1,
    };
    const { workflow } = await stack.temporal();
    await workflow.start('ContractQuestion', {
      workflowId: token,
      taskQueue: workers[language].taskQueue,
      memo: { [START_MEMO]: memo },
    });
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
  PROCESSES_MS,
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

test(
  'the library for Python keeps types of results, progress of failed activities and default answers',
  async () => {
    expect(await python('-m', 'unittest', 'tests/test_workflows.py')).toMatch(/Ran 4 tests[^]*OK/);
  },
  PROCESSES_MS,
);
