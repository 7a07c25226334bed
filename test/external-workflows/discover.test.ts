/** `longhaul discover`: drafts of tools from the runs of a worker that doesn't know Longhaul, which a server serves as they are. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { eventually } from '../stack/cli-process.js';
import { documents, run } from '../cli/commands.js';
import { PROCESSES_MS } from '../support/limits.js';
import { OddStack } from './support.js';

jest.setTimeout(PROCESSES_MS);

const QUEUE = `discover-${randomUUID()}`;
// Before the stack's own, which ends the connection.
afterAll(async () => {
  const open = temporal?.workflow.list({ query: `TaskQueue = '${QUEUE}' AND ExecutionStatus = 'Running'` });
  for await (const { workflowId } of open ?? []) await handleOf(workflowId).terminate();
});
const FAMILY = { 'family.yaml': `workflow: { type: Parent, task-queue: ${QUEUE} }\nargs: []\n` };
const stack = OddStack.ofFile(QUEUE, FAMILY);
const { startByHand } = stack;
const TOOLS = join(stack.project, 'tools');
const SECRET = 'hunter2';
/** Runs that are not Longhaul's. */
const RUNS = 7;

let temporal: Client;

const discover = (...flags: string[]) =>
  run(stack.parts, ['discover', '--project', stack.project, '--task-queue', QUEUE, ...flags]);
const handleOf = (workflowId: string) => temporal.workflow.getHandle(workflowId);

/** Starts runs of several types, some of which stay open. */
async function startRuns(): Promise<void> {
  const family = await stack.begin('family');
  const echo = [await startByHand('Echo', [SECRET, 3]), await startByHand('Echo', [SECRET])];
  const result = await startByHand('Result', ['text'], { workflowExecutionTimeout: '3 hours' });
  const asks = [await startByHand('Asks', [1]), await startByHand('Asks', [2])];
  const rows = await startByHand('Heartbeats', [10_000]);
  await startByHand('Ticks', [5]);
  await stack.ended(family);
  await Promise.all([...echo, result].map((workflowId) => handleOf(workflowId).result()));
  for (const workflowId of asks) await handleOf(workflowId).executeUpdate('decide', { args: [true, SECRET] });
  await handleOf(asks[0]!).result();
  await eventually('it heartbeats', async () => {
    const { raw } = await handleOf(rows).describe();
    return raw.pendingActivities?.some(({ heartbeatDetails }) => heartbeatDetails?.payloads?.length);
  });
  // With the family and its child.
  const counts = async (status: string) =>
    Number((await temporal.workflow.count(`TaskQueue = '${QUEUE}' AND ExecutionStatus = '${status}'`)).count);
  await eventually(
    'visibility has them',
    async () => (await counts('Completed')) === 6 && (await counts('Running')) === 3,
  );
}

beforeAll(async () => {
  temporal = await stack.parts.temporal();
  await startRuns();
}, PROCESSES_MS);

test('without --yes it shows the calls that it would make, and makes none', async () => {
  const { code, stdout, stderr } = await discover('--since', '3d');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`at most 10 calls, 1000 runs each`);
  expect(stderr).toContain(`on the task queue ${QUEUE}`);
  expect(stderr).toContain('queries:         none');
  expect(stderr).toContain('expected --yes');
  expect(stderr).toContain('nothing was read');
});

test('each workflow type gets a draft that is valid and has no value; a server runs one as it is', async () => {
  const found = await discover('--yes', '--query', '--output', TOOLS, '--json');
  expect([found.code, found.stdout.includes(SECRET)]).toEqual([0, false]);
  const [{ drafts, runs }] = documents<any>(found) as [any];
  // Neither the operation of Longhaul nor its child workflow.
  expect([runs, drafts.map(({ tool }: { tool: string }) => tool).sort()]).toEqual([
    RUNS,
    ['asks', 'echo', 'heartbeats', 'result', 'ticks'],
  ]);
  const textOf = (tool: string) => readFileSync(join(TOOLS, `${tool}.yaml`), 'utf8');
  expect(textOf('echo')).toContain('2 completed; histories read: 2.');
  expect(textOf('result')).toContain('timeout-minutes: 180');
  expect(textOf('heartbeats')).toContain('map: { progress: rows, total: total }');
  expect(textOf('ticks')).toMatch(/progress:\n +query: progress/);
  expect(textOf('asks')).toMatch(/question:\n +query: question/);

  const checked = await run(stack.parts, ['check', TOOLS]);
  expect([checked.code, checked.stdout.match(/: ok, tool/g)]).toEqual([0, Array(6).fill(': ok, tool')]);

  // The server reloads the folder.
  const token = await eventually('the server has the drafts', () =>
    stack.begin('asks', { arg1: 1 }).catch(() => undefined),
  );
  const { questions } = await stack.until('it asks', token, ({ questions }) => questions.length > 0);
  await stack.client.answer(token, questions[0]!.key, { approved: true, arg2: 'as drafted' });
  const { result } = await stack.ended(token);
  expect(result).toEqual({ answers: ['yes (as drafted)'] });
});

test('files that are there stay as they are, also under another name, unless --force is given', async () => {
  const path = join(TOOLS, 'echo.yaml');
  const own = `name: my_echo\nworkflow: { type: Echo, task-queue: ${QUEUE} }\n`;
  writeFileSync(path, own);
  const kept = await discover('--yes', '--type', 'Echo', '--output', TOOLS);
  expect([kept.code, kept.stdout]).toEqual([
    0,
    expect.stringContaining('echo.yaml: kept, since it is there already'),
  ]);
  expect(readFileSync(path, 'utf8')).toBe(own);
  const forced = await discover('--yes', '--type', 'Echo', '--output', TOOLS, '--force');
  expect([forced.code, forced.stdout]).toEqual([
    0,
    expect.stringContaining('echo.yaml: tool echo, over Echo'),
  ]);
  expect(readFileSync(path, 'utf8')).toContain('# Draft of the tool echo');
});

test('without a folder the drafts are printed; histories alone give no queries', async () => {
  // Another one's, which --task-queue leaves out.
  const { workflowId } = await temporal.workflow.start('Ticks', {
    ...{ workflowId: `elsewhere-${QUEUE}`, taskQueue: `elsewhere-${QUEUE}`, args: [SECRET, 1] },
  });
  await eventually('visibility has it', async () => {
    const { count } = await temporal.workflow.count(`TaskQueue = 'elsewhere-${QUEUE}'`);
    return Number(count) === 1;
  });
  const { code, stdout } = await discover('--yes', '--type', 'Ticks', '--runs', '1');
  await handleOf(workflowId).terminate();
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^---\n# File: ticks_2\.yaml\n# Draft of/)]);
  expect(stdout).toContain('longhaul discover --query asks a worker');
  expect(stdout).toContain(': 1 running; histories read: 1.');
  expect(stdout).toMatch(/input:\n {2}properties:\n {4}arg1: \{ type: integer \}/);
});

test.each([
  [
    'a namespace that Temporal lacks',
    ['--yes', '--namespace', 'no-such'],
    4,
    'Temporal has no namespace "no-such"',
  ],
  ['no run', ['--yes', '--type', 'NoSuchType'], 4, 'the namespace "default" has no run since'],
  ['a time that does not exist', ['--yes', '--since', '2026-99-99'], 2, '--since: expected a time'],
  ['--force without a folder', ['--yes', '--force'], 2, '--force: expected --output'],
])('%s is refused, with its exit code', async (_what, flags, code, message) => {
  const ended = await discover(...flags);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(message)]);
});
