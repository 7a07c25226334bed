/** Mistakes in an author's code that keep an operation from ending: status, log and console name what was thrown, where, and the cure. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { casesOf, patternOf } from '../pipelines/language-support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { protocolClients } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';
import { writeFiles } from '../support/write-files.js';

jest.setTimeout(PROCESSES_MS);

const CALL = `import { proxyActivities, sleep } from '@temporalio/workflow';
const { ok, fail, help, absent, reject, exit, exitLater, throwLater } = proxyActivities<any>({ startToCloseTimeout: '1 minute' });
const { fail: failOnce } = proxyActivities<any>({ startToCloseTimeout: '1 minute', retry: { maximumAttempts: 1 } });`;
const calls = (activity: string) => `${CALL}\nexport async function NAME() {\n  await ${activity}();\n}`;
const throws = (body: string) => `export async function NAME(): Promise<any> {\n  ${body}\n}`;
const PROXY = "import { proxyActivities } from '@temporalio/workflow';\nconst { ok } = proxyActivities<any>";
const KID = `await startChild(kid, { workflowId: 'kid-of-failing-code' });`;
const FAILING = "the workflow's code keeps failing (attempt ...):";
const SANDBOX = 'a workflow runs without Node.js, network and environment: move it to an activity';
const TO_FAIL = 'correct the code, or throw ApplicationFailure to fail the operation';

const ACTIVITIES = `import { stage } from 'longhaul/workflow';
import { setTimeout as sleep } from 'node:timers/promises';
export async function ok() { await sleep(2_000); }
export async function help() { stage('x'); }
export async function fail() { throw new Error('db away'); }
export async function reject() { void fail(); await sleep(60_000); }
export async function exit() { process.exit(3); }
export async function exitLater() { setTimeout(() => process.exit(3), 10); await sleep(60_000); }
export async function throwLater() { setTimeout(() => { throw new Error('from a timer'); }, 10); await sleep(60_000); }
`;

/** Tools with the files of their workflows, and the status; `...` stands for any text. */
const MISTAKES = casesOf(`
throws_error
${throws("throw new Error('no water');")}
=> ${FAILING} no water (thrown in NAME at workflows/NAME.ts:2): ${TO_FAIL}
throws_text
${throws("throw 'no water';")}
=> ${FAILING} "no water", which is no Error: ${TO_FAIL}
signal_throws
import { condition, defineSignal, setHandler } from '@temporalio/workflow';
export async function signal_throws() {
  setHandler(defineSignal('go'), () => { throw new Error('bad signal'); });
  await condition(() => false);
}
=> ${FAILING} bad signal (thrown at workflows/NAME.ts:3)...
without_function
export async function another_name() {}
=> ${FAILING} ...'NAME'...
child_missing
import { executeChild } from '@temporalio/workflow';
${throws("await executeChild('nowhere');")}
=> nowhere-1: ...'nowhere': no such function...: export a function of this name from a file in workflows/
uses_fetch
${throws("await fetch('http://x');")}
=> ${FAILING} fetch is not defined (thrown in NAME at workflows/NAME.ts:2): ${SANDBOX}
uses_crypto
${throws('return crypto.randomUUID();')}
=> ${FAILING} crypto is not defined (...workflows/NAME.ts:2): ${SANDBOX}, or make IDs with uuid4...
no_limit
${PROXY}({});
${throws('await ok();')}
=> ${FAILING} Required either ... (thrown at workflows/NAME.ts:2): give proxyActivities a limit...
bad_limit
${PROXY}({ startToCloseTimeout: '1 minit' as any });
${throws('await ok();')}
=> ${FAILING} ...'1 minit' (thrown ...at workflows/NAME.ts:4): write a duration as...
zero_limit
${PROXY}({ startToCloseTimeout: 0 });
${throws('await ok();')}
=> ${FAILING} ...ActivityType=ok: give proxyActivities a limit of an attempt...
unawaited_fails
${CALL}
export async function NAME() {
  failOnce();
  await sleep('1 hour');
}
=> ${FAILING} fail (called at workflows/NAME.ts:5) isn't awaited and failed: db away (thrown in fail at activities/all.ts:5): await it...
unawaited_function
${CALL}
async function later() {
  await sleep(1);
  throw new Error('lost');
}
export async function NAME() {
  void later();
  await sleep('1 hour');
}
=> ${FAILING} a promise that isn't awaited was rejected: lost (thrown in later at workflows/NAME.ts:6)...
unawaited_runs
${CALL}
export async function NAME() {
  ok();
  return 1;
}
=> completed, without awaiting ok (called at workflows/NAME.ts:5)
missing_activity
${calls('absent')}
=> absent is being retried (attempt ...): no file in activities/ exports a function "absent"; known are ...
failing_activity
${calls('fail')}
=> fail is being retried (attempt ...): db away (thrown in fail at activities/all.ts:5)
helper_in_activity
${calls('help')}
=> help is being retried ...outside of a workflow: in an activity, use those of longhaul/activity (thrown in help at activities/all.ts:4)
rejecting_activity
${calls('reject')}
=> reject is being retried ...a promise that isn't awaited was rejected: db away: await it... (thrown in fail at activities/all.ts:5)
exiting_activity
${calls('exit')}
=> exit is being retried ...process.exit(3) would end the worker: ... (thrown in exit at activities/all.ts:7)
exiting_callback
${calls('exitLater')}
=> exitLater is being retried ...process.exit(3) would end the worker: ...activities/all.ts:8)
throwing_callback
${calls('throwLater')}
=> throwLater is being retried ...thrown in a callback: from a timer: ...activities/all.ts:9)
same_child_twice
import { startChild, sleep } from '@temporalio/workflow';
export async function kid() { await sleep('1 hour'); }
${throws(`${KID} ${KID}`)}
=> a workflow with the ID "kid-of-failing-code" has been started already: give each child an ID of its own
cleanup_throws
import { ApplicationFailure } from '@temporalio/workflow';
import { cleanup } from 'longhaul/workflow';
export async function NAME() {
  cleanup(async () => { throw new Error('no mop'); });
  throw ApplicationFailure.nonRetryable('no water');
}
=> no water; a cleanup failed: no mop (thrown at workflows/NAME.ts:4)
`).map(([text, status]): [name: string, workflow: string, status: RegExp] => {
  const [name, ...lines] = text.split('\n') as [string, ...string[]];
  const named = (words: string) => words.replaceAll('NAME', name);
  return [name, named(lines.join('\n')), new RegExp(`^${patternOf(named(status)).source}$`)];
});

const tool = (name: string) =>
  `import { defineTool } from 'longhaul';
   export default defineTool({ name: '${name}', description: { does: 'x' }, estimate: { seconds: 1 },
     input: { type: 'object', properties: {} } });`;
const folder = mkdtempSync(join(tmpdir(), 'longhaul-failing-'));
let parts: TestStack;
const tokens: Record<string, string> = {};
const names = [...MISTAKES.map(([name]) => name), 'cleanup_after_cancel'];

beforeAll(async () => {
  writeFiles(folder, {
    'activities/all.ts': ACTIVITIES,
    'workflows/cleanup_after_cancel.ts': `import { sleep } from '@temporalio/workflow';
      import { cleanup } from 'longhaul/workflow';
      export async function cleanup_after_cancel() {
        cleanup(async () => { throw new Error('no mop'); });
        await sleep('1 hour');
      }`,
    ...Object.fromEntries(names.map((name) => [`tools/${name}.ts`, tool(name)])),
    ...Object.fromEntries(MISTAKES.map(([name, workflow]) => [`workflows/${name}.ts`, workflow])),
  });
  parts = await TestStack.start({ LONGHAUL_PROJECT: folder, LONGHAUL_SHIPPED_TOOLS: 'false' });
  for (const name of names) tokens[name] = await parts.client.start(name);
  await (await parts.temporal()).workflow.getHandle(tokens['signal_throws']!).signal('go');
}, PROCESSES_MS);
afterAll(async () => {
  await parts?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test.each(MISTAKES)('%s is named in the status, with its place', async (name, _workflow, status) => {
  let last: string | undefined;
  await eventually(
    () => `the status fits ${status}; it was ${last}`,
    async () => {
      last = (await parts.client.get(tokens[name]!)).statusMessage;
      return status.test(last ?? '');
    },
  );
  // Names of Longhaul's own activities.
  expect(last).not.toMatch(/longhaul_|Pipeline/);
});

test('a cleanup that fails after a cancel stands beside the reason', async () => {
  const taskId = tokens['cleanup_after_cancel']!;
  await parts.client.request('tasks/cancel', { taskId });
  const { statusMessage } = await parts.client.until(taskId, 'cancelled');
  expect(statusMessage).toBe(
    'canceled; a cleanup failed: no mop (thrown at workflows/cleanup_after_cancel.ts:4)',
  );
});

test('every protocol names the place', async () => {
  const clients = protocolClients(parts.base);
  await Promise.all(
    clients.map(async (client) => {
      const token = await client.start('throws_error', {}, `place ${client.name}`);
      await eventually(`${client.name} names the place`, async () =>
        JSON.stringify((await client.read(token))?.raw).includes('at workflows/throws_error.ts:2'),
      );
      await client.close?.();
    }),
  );
});

describe('the console', () => {
  const lines = () => parts.parts.flatMap((part) => part.output().split('\n'));
  const linesOf = (name: string) => lines().filter((line) => line.includes(`Workflow failed: ${name} `));

  test.each(['throws_error', 'signal_throws', 'unawaited_function'])(
    '%s has one line, with tool, token and message',
    async (name) => {
      await eventually(`the line of ${name}`, () => linesOf(name).length > 0);
      await eventually('a later attempt has failed', async () =>
        /attempt ([3-9]|\d\d)/.test((await parts.client.get(tokens[name]!)).statusMessage),
      );
      const [line, ...others] = linesOf(name);
      expect(others.filter((other) => !/\(\d+0 times\)/.test(other))).toEqual([]);
      expect(line).toContain(`Workflow failed: ${name} ${tokens[name]}: `);
      expect(line).toContain(`workflows/${name}.ts:`);
    },
  );

  test('activities that exit, throw in callbacks or reject end no worker', () => {
    const worker = parts.parts.find((part) => part.process.spawnargs.includes('worker'))!;
    expect(worker.process.exitCode).toBeNull();
  });
});
