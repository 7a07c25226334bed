import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { processIdentity } from '../../platform/home/process-identity.js';
import { eventually, isRunning, kill, TestHome, type CommandRun } from '../stack/cli-process.js';
import { OUTAGE_MS, PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { stepLogText } from '../support/stored-log.js';
import { LEDGER, linesOf, processesOn, textOf, writePipelines } from './support.js';

jest.setTimeout(OUTAGE_MS);

/** Their lines when each has run once. */
const ONCE = ['start 1', 'done 1', 'start 2', 'done 2', 'start 3', 'done 3'];

/** Three steps that leave a line as they start and as they end; the second waits until the test lets it go. */
const steps = (extra: string) => `
      - { name: one, run: 'echo start 1 >> "$INPUT_LEDGER"; echo done 1 >> "$INPUT_LEDGER"' }
      - name: two
        ${extra}
        run: |
          echo start 2 >> "$INPUT_LEDGER"
          echo "doing the second"
          while [ ! -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          echo done 2 >> "$INPUT_LEDGER"
      - { name: three, run: 'echo start 3 >> "$INPUT_LEDGER"; echo done 3 >> "$INPUT_LEDGER"' }
`;
const PIPELINES = {
  careful: `${LEDGER}\njobs:\n  work:\n    steps:${steps('idempotent: false')}`,
  repeatable: `${LEDGER}\njobs:\n  work:\n    steps:${steps('idempotent: true')}`,
};

let home: TestHome;
let client: WireClient;
let stack: CommandRun;
const folder = mkdtempSync(join(tmpdir(), 'longhaul-pipeline-kills-'));
const environment = { LONGHAUL_PIPELINE_FOLDERS: folder, LONGHAUL_SHIPPED_TOOLS: 'false' };

beforeAll(async () => {
  writePipelines(folder, PIPELINES);
  home = await TestHome.create();
  stack = await home.up(environment);
  client = new WireClient(`${home.url}/mcp`);
}, STACK_MS);
afterAll(async () => {
  await home?.remove();
  rmSync(folder, { recursive: true, force: true });
});

const ledgerPath = (name: string) => join(folder, name);
const ledgerOf = (name: string) => linesOf(ledgerPath(name));

async function startAndReachSecond(tool: string, name: string): Promise<string> {
  const taskId = await client.start(tool, { ledger: ledgerPath(name) });
  await eventually('the second step has started', () => ledgerOf(name).includes('start 2'));
  const log = () => stepLogText(home.path, taskId, 'work', 2);
  await eventually('its output is in its log', () => log().includes('doing the second\n'));
  return taskId;
}

function letGo(name: string): void {
  writeFileSync(`${ledgerPath(name)}.go`, '');
}

/**
 * The launcher of the step that runs. Its subshells have its command line too, and a lower PID where the PIDs have wrapped, so it
 * is the one that none of the others is the parent of.
 */
function launcherOf(name: string): number {
  const all = leftOvers(name).filter((pid) => processIdentity(pid)?.commandLine.includes('launcher.sh'));
  const parentOf = (pid: number) =>
    Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1]);
  return all.find((pid) => !all.includes(parentOf(pid)))!;
}

const leftOvers = (name: string) => processesOn(ledgerPath(name));

async function answerDoubt(taskId: string, decision: string): Promise<any> {
  const task = await client.until(taskId, 'input_required', STACK_MS);
  const [[key, question]] = Object.entries<any>(task.inputRequests) as [[string, any]];
  await client.answer(taskId, key, { action: 'accept', content: { decision } });
  return question.params;
}

describe('kill -9 while a step runs', () => {
  test.each(['server', 'temporal', 'worker'] as const)(
    'of the %s: the step does not notice',
    async (part) => {
      const taskId = await startAndReachSecond('careful', part);
      kill(home.parts()[part]);
      letGo(part);
      await client.until(taskId, 'completed', STACK_MS);
      expect(ledgerOf(part)).toEqual(ONCE);
    },
  );

  test('of the launcher: an idempotent step runs again, and no other', async () => {
    const taskId = await startAndReachSecond('repeatable', 'repeatable');
    kill(launcherOf('repeatable'));
    await eventually(
      'the second step has started again',
      () => ledgerOf('repeatable').length === 4,
      STACK_MS,
    );
    letGo('repeatable');
    await client.until(taskId, 'completed', PROCESSES_MS);
    expect(ledgerOf('repeatable')).toEqual([
      ...['start 1', 'done 1'],
      ...['start 2', 'start 2', 'done 2'],
      ...['start 3', 'done 3'],
    ]);
  });

  test.each([
    ['run_again', ['start 2', 'start 2', 'done 2', 'start 3', 'done 3']],
    ['take_as_done', ['start 2', 'start 3', 'done 3']],
    ['give_up', ['start 2']],
  ])(
    'of the launcher: any other step is asked about, and answered %s',
    async (decision, rest) => {
      const taskId = await startAndReachSecond('careful', decision);
      kill(launcherOf(decision));
      await eventually('nothing of the step is left', () => leftOvers(decision).length === 0);
      const question = await answerDoubt(taskId, decision);
      expect(question.message).toContain('work / two');
      expect(question.message).toContain('doing the second');
      letGo(decision);
      const { result } = await client.until(taskId, 'completed', PROCESSES_MS);
      expect(ledgerOf(decision)).toEqual(['start 1', 'done 1', ...rest]);
      expect(Boolean(result.isError)).toBe(decision === 'give_up');
      if (decision === 'give_up') expect(textOf(result)).toContain('work: step "two" is in doubt');
    },
    OUTAGE_MS,
  );

  test('of everything at once: the operation continues under its token, and so does the step', async () => {
    const taskId = await startAndReachSecond('careful', 'all');
    const { temporal, worker, server } = home.parts();
    const supervisor = home.state().supervisorPid!;
    for (const pid of [supervisor, temporal, worker, server]) kill(pid);
    await eventually('all are gone', () =>
      [supervisor, temporal, worker, server].every((pid) => !isRunning(pid)),
    );
    stack = await home.up(environment);
    letGo('all');
    await client.until(taskId, 'completed', STACK_MS);
    expect(ledgerOf('all')).toEqual(ONCE);
    await eventually('nothing of the step is left', () => leftOvers('all').length === 0);
  });
});

test('the stack going down in good order leaves no process of a step, and the step is asked about', async () => {
  const taskId = await startAndReachSecond('careful', 'down');
  const down = home.run(['down']);
  expect(await down.ended).toBe(0);
  expect(leftOvers('down')).toEqual([]);
  expect(stack.stderr()).toContain(`${taskId}  work / two`);
  await home.up(environment);
  await answerDoubt(taskId, 'run_again');
  letGo('down');
  await client.until(taskId, 'completed', PROCESSES_MS);
  expect(ledgerOf('down').filter((line) => line === 'start 2')).toHaveLength(2);
});
