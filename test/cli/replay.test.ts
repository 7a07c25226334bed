/** `longhaul replay`: what fits, where a changed workflow or a changed Longhaul differs, and what can't be replayed. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFile, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { workflowIdOf } from '../../operations/token.js';
import { loadSecret } from '../../platform/home/secret.js';
import { processIdentity } from '../../platform/home/process-identity.js';
import { keptHistories, PROJECT, TAG } from '../histories/kept.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { FIXTURES, TestStack } from '../support/test-stack.js';
import { Release } from '../versioning/support.js';
import { documents, run, start, type Ended } from './commands.js';

jest.setTimeout(STACK_MS);

const folder = mkdtempSync(join(tmpdir(), 'longhaul-replay-'));
let stack: TestStack;
let token: string;
let file: string;

beforeAll(async () => {
  // Its own stack: a test replays all that ran on its task queue.
  stack = await TestStack.start();
  token = await stack.client.start('slow_compute', { seconds: 1 });
  await stack.client.until(token, 'completed');
  file = join(folder, 'history.json');
  const history = await (await stack.temporal()).workflow.getHandle(token).fetchHistory();
  writeFileSync(file, historyToJSON(history));
}, PROCESSES_MS);
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const replay = (args: string[], project = FIXTURES, environment = {}) =>
  run(stack, ['replay', ...args], { environment: { LONGHAUL_PROJECT: project, ...environment } });

const reportsOf = (ended: Ended): any[] => documents<any>(ended)[0].histories;

const HEAD = `import { condition, proxyActivities, sleep } from '@temporalio/workflow';
import { stage } from 'longhaul/workflow';
const { countPrimes } = proxyActivities<any>({ startToCloseTimeout: '2h' });
async function nap() {
  await sleep(5);
}
export async function slow_compute(input: any) {
  stage('count primes');
`;

/** A project whose workflow slow_compute has this body. */
function changed(name: string, body: string): string {
  const project = join(folder, name);
  cpSync(FIXTURES, project, { recursive: true });
  writeFileSync(join(project, 'workflows/slow_compute.ts'), `${HEAD}${body}\n}\n`);
  return project;
}

/** Fields of proc(5)'s stat, from the state on. */
const statOf = (pid: number | string) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};
const cpuSeconds = (pid: number) => (Number(statOf(pid)[11]) + Number(statOf(pid)[12])) / 100;

/** Process that replays for a command. */
function childOf(parent: number): number | undefined {
  const isChild = (pid: string) => {
    const identity = processIdentity(Number(pid));
    return identity?.commandLine.includes('replay-histories.js') && statOf(pid)[1] === String(parent);
  };
  return Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && isChild(name))) || undefined;
}

describe('what fits', () => {
  test('an operation by its token, and its history as a file, also a compressed one', async () => {
    const compressed = `${file}.gz`;
    writeFileSync(compressed, gzipSync(readFileSync(file)));
    const ended = await replay([token, file, compressed]);
    expect(ended.stdout.split('\n')).toEqual([
      `fits  ${file}, slow_compute, 13 events`,
      `fits  ${compressed}, slow_compute, 13 events`,
      expect.stringMatching(`^fits  ${token}, slow_compute, run [-0-9a-f]+, 13 events$`),
      '3 histories: all fit',
      '',
    ]);
    expect(ended.code).toBe(0);
  });

  test('workflows that a query finds, up to a limit; none is fine too', async () => {
    const second = await stack.client.start('slow_compute', { seconds: 0 });
    await stack.client.until(second, 'completed');
    const query = (text: string) => ['--query', `TaskQueue='${stack.taskQueue}' AND ${text}`];
    const ended = await eventually('both are listed', async () => {
      const found = await replay([...query("WorkflowType='slow_compute'"), '--json']);
      return reportsOf(found).length === 2 ? found : undefined;
    });
    expect(documents(ended)).toMatchObject([{ ok: true, isLimited: false }]);
    const limited = await replay([...query("WorkflowType='slow_compute'"), '--limit', '1']);
    expect(limited).toMatchObject({
      code: 0,
      stderr: 'stopped after 1 histories from Temporal; --limit takes more\n',
    });
    const none = await replay(query("WorkflowType='nothing'"));
    expect(none).toMatchObject({ code: 0, stdout: 'nothing to replay: no workflow matches\n' });
  });

  test('a workflow that no worker has run: there is nothing to replay', async () => {
    const workflowId = `${token}-idle`;
    const temporal = await stack.temporal();
    const handle = await temporal.workflow.start('slow_compute', {
      workflowId,
      taskQueue: 'nobody',
      args: [],
    });
    const ended = await replay([workflowId]);
    await handle.terminate();
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain('nothing to replay: no worker has run it yet');
  });

  test('the token of a caller with an API key in the home', async () => {
    const keys = join(folder, 'keys');
    mkdirSync(keys);
    addApiKey(keys, { tenant: 'acme', subject: 'ann' });
    const secret = loadSecret(process.env['LONGHAUL_HOME']!);
    for (const [subject, named] of [
      ['ann', []],
      ['bob', ['--tenant', 'acme', '--subject', 'bob']],
    ] as const) {
      const own = `team/${subject}-${token}`;
      const workflowId = workflowIdOf(`acme/${subject}`, own, secret);
      const handle = await (
        await stack.temporal()
      ).workflow.start('slow_compute', {
        ...{ workflowId, taskQueue: 'nobody', args: [] },
      });
      const ended = await replay([own, ...named], FIXTURES, { LONGHAUL_KEYS_FOLDER: keys });
      await handle.terminate();
      expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining(`fits  ${workflowId}, `)]);
    }
  });
});

test('a debugger stops in the code of the workflow', async () => {
  const port = String(await freePort());
  const replayed = start(stack, ['replay', file, '--inspect', port], {
    environment: { LONGHAUL_PROJECT: FIXTURES },
  });
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--experimental-websocket', resolve('test/cli/debugger.js'), port, "('count primes')"],
  ]);
  expect(stdout).toBe('slow_compute\n');
  expect(await replayed.ended).toMatchObject({ code: 0 });
  expect(replayed.stderr).toContain(`ws://127.0.0.1:${port}/`);
});

describe('a changed workflow', () => {
  test.each([
    [
      'that sleeps at its end',
      'const primes = await countPrimes(input.seconds);\n  await nap();\n  return { primes, label: input.label };',
      { event: { id: 13, type: 'WorkflowExecutionCompleted' }, did: 'StartTimer 0.005s' },
      [
        { function: 'nap', line: 5 },
        { function: 'slow_compute', line: 10 },
      ],
    ],
    [
      'that waits',
      'await condition(() => false);\n  return { primes: 1, label: input.label };',
      { event: { id: 6, type: 'ActivityTaskScheduled', name: 'countPrimes' } },
      [{ function: 'slow_compute', line: 9 }],
    ],
    [
      'that ends early',
      'return { primes: 1, label: input.label };',
      { event: { id: 6, type: 'ActivityTaskScheduled' }, did: 'CompleteWorkflowExecution' },
      [{ function: 'slow_compute', line: 7 }],
    ],
  ])('%s is named with its event, function and line', async (what, body, difference, callers) => {
    const project = changed(what.replaceAll(' ', '-'), body);
    const ended = await replay([file, '--json'], project);
    expect(ended.code).toBe(1);
    const [report] = reportsOf(ended);
    expect(report).toMatchObject({ verdict: 'differs', fits: false, file, type: 'slow_compute', difference });
    const path = join(project, 'workflows/slow_compute.ts');
    expect(report.difference.callers).toMatchObject(callers.map((caller) => ({ ...caller, file: path })));
    expect(report.message).toContain('Nondeterminism error');
  });

  test('that throws an error fails, with the line', async () => {
    const project = changed('throws', 'await countPrimes(input.seconds);\n  return input.nothing.length;');
    const { code, stdout } = await replay([file], project);
    expect(code).toBe(1);
    expect(stdout).toContain(
      `FAILS  ${file}, slow_compute, 13 events\n` +
        "  event 11: the code throws an error: Cannot read properties of undefined (reading 'length')\n" +
        `  in slow_compute (${project}/workflows/slow_compute.ts:10:`,
    );
  });

  test('that blocks its thread is timed out, and the next history is replayed', async () => {
    const other = keptHistories().get(`${TAG}/confirm_delete/answered`)!;
    const project = changed('blocks', 'for (;;) await null;');
    const ended = await replay([file, other, '--json', '--timeout-seconds', '20'], project);
    expect(ended.code).toBe(1);
    expect(reportsOf(ended)).toMatchObject([{ verdict: 'timed_out', fits: false }, { verdict: 'fits' }]);
  });

  test('that blocks its thread does not outlive a command that is killed', async () => {
    const project = changed('outlives', 'for (;;) await null;');
    const command = start(stack, ['replay', file], { environment: { LONGHAUL_PROJECT: project } });
    const child = await eventually('the replay runs', () => childOf(command.pid));
    // It blocks once it has loaded its modules; before that, it has other reasons to end.
    await eventually('the replay blocks', () => cpuSeconds(child) > 5);
    command.signal('SIGKILL');
    await command.ended;
    await eventually('its process has ended', () => processIdentity(child) === undefined);
  });
});

test('a changed Longhaul is named: a timer in the code of pipelines', () => {
  const release = Release.copyTo(join(folder, 'build'));
  release.plantTimer('dist/workflows/pipeline/jobs.js', '    const outcomes = new Map();\n');
  rmSync(join(folder, 'build/dist/workflow-bundle.js'));
  const history = keptHistories().get(`${TAG}/pipeline/completed`)!;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [release.main, 'replay', history, '--json', '--home', join(folder, 'build/home')],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', LONGHAUL_PROJECT: PROJECT } },
  );
  expect(stderr).toBe('');
  const [report] = JSON.parse(stdout).histories;
  expect(report).toMatchObject({ verdict: 'differs', difference: { did: 'StartTimer 0.001s' } });
  const [caller] = report.difference.callers;
  expect(caller.function).toBe('runJobs');
  expect(caller.file).toMatch(/workflows\/pipeline\/jobs\.[jt]s$/);
});

describe('what is no history of this build', () => {
  test('each file that is no history has an error with its place, and one of another project an unknown type', async () => {
    const text = readFileSync(file, 'utf8');
    const late = JSON.stringify({ events: JSON.parse(text).events.slice(3) });
    const unknown = text.replace('"EVENT_TYPE_WORKFLOW_TASK_STARTED"', '{}');
    const cases: [name: string, text: string, problem: RegExp][] = [
      ['cut-off', text.slice(0, 300), /:\d+:\d+: expected a history .*; the file ends too early/],
      ['broken', text.replace(':', ';'), /:2:11: expected a history as JSON, with its events; /],
      ['other', '{"tool": 1}', /expected a history as JSON, with its events; got {"tool": 1}/],
      ['late', late, /expected a history from its first event; got {"eventId":"4"/],
      ['unreadable', unknown, /with its events; got event 3: /],
    ];
    const paths = cases.map(([name, content]) => {
      const path = join(folder, `${name}.json`);
      writeFileSync(path, content);
      return path;
    });
    const foreign = join(folder, 'foreign.json');
    writeFileSync(foreign, text.replaceAll('"slow_compute"', '"slow_computer"'));
    const ended = await replay([...paths, foreign, '--json']);
    expect(ended.code).toBe(1);
    const reports = reportsOf(ended);
    expect(reports.slice(0, -1)).toMatchObject(
      cases.map(([, , problem], index) => ({
        verdict: 'unreadable',
        fits: false,
        file: paths[index],
        problem: expect.stringMatching(problem),
      })),
    );
    expect(reports.at(-1).problem).toMatch(/this build has no workflow "slow_computer".*slow_compute\b/);
  });

  test.each([
    [[], 2, 'expected tokens or files, or --query; got none of them'],
    [['x', '--query', 'y'], 2, 'expected tokens or files, or --query; got both'],
    [['nowhere/history.json'], 2, 'expected a file with a history; there is no such file'],
    [['--query', 'nonsense ='], 2, "--query: expected a query of Temporal's visibility; got "],
    [['no-such-token'], 4, 'no-such-token: Temporal has no such operation, and there is no such file'],
  ])('longhaul replay %j ends with %d', async (args, code, message) => {
    const ended = await replay(args);
    expect(ended.stderr).toContain(message);
    expect(ended.code).toBe(code);
  });

  test('no Temporal that can be reached is said so', async () => {
    const ended = await replay([token], FIXTURES, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(ended.stderr).toContain('no Temporal at 127.0.0.1:1');
    expect(ended.code).toBe(3);
  });
});
