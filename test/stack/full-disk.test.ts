import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { artifactKey } from '../../platform/storage/keys.js';
import { readStackState } from '../../platform/temporal/address.js';
import { LogFile } from '../../stack/log-files.js';
import { takeStackLock } from '../../stack/stack-lock.js';
import { updateStackState } from '../../stack/stack-state.js';
import { linesOf, textOf, writePipelines } from '../pipelines/support.js';
import { OUTAGE_MS, PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { FIXTURES, TestStack } from '../support/test-stack.js';
import { eventually, isRunning, kill, readText, TestHome } from './cli-process.js';

jest.setTimeout(OUTAGE_MS);

/** Small, so that it is filled within a moment; a stack needs some 10 MB. */
const DISK = 'size=96m,mode=0700';

let home: TestHome;
let disk: string;
beforeEach(async () => {
  home = await TestHome.create();
  disk = join(home.path, 'disk');
  mkdirSync(disk);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', DISK, 'tmpfs', disk], { encoding: 'utf8' });
  if (mounted.status !== 0) throw new Error(`a file system of its own needs root: ${mounted.stderr}`);
});
afterEach(async () => {
  if (existsSync(join(disk, 'stack.lock'))) await home.run(['down', '--home', disk]).ended;
  spawnSync('umount', ['-l', disk]);
  await home.remove();
});

const PIPELINES = {
  three_writes: `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  work:
    artifacts: [report.txt]
    steps:
      - name: first
        run: |
          echo first >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.first" ]; do sleep 0.1; done
      - name: second
        run: |
          seq 1 20000 > report.txt
          echo second >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.second" ]; do sleep 0.1; done
`,
  greedy: `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  work:
    steps:
      - name: fill
        run: |
          echo run >> "$INPUT_LEDGER"
          dd if=/dev/zero of=large bs=64k || { rm large; exit 4; }
`,
};
const NUMBERS = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join('');

/** Leaves no room at all. @returns the path of what takes it up */
function fill(): string {
  const filler = join(disk, 'filler');
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
  return filler;
}

/** Leaves no room, also none that files give back. @returns a function that ends this */
function keepFull(): () => void {
  const filler = fill();
  const filling = spawn(
    'bash',
    ['-c', 'while :; do dd if=/dev/zero bs=4k >>"$0"; sleep 0.01; done', filler],
    {
      stdio: 'ignore',
    },
  );
  return () => {
    filling.kill('SIGKILL');
    rmSync(filler);
  };
}

test('a log drops and counts what a full disk does not take', () => {
  const log = new LogFile(disk, 'worker');
  log.append('before');
  const filler = fill();
  const line = 'x'.repeat(8192);
  for (let count = 0; count < 3; count++) log.append(line);
  rmSync(filler);
  log.append('after');
  log.close();
  const text = readText(join(disk, 'logs/worker.log'));
  expect(text.startsWith('before\n')).toBe(true);
  expect(text.endsWith('\n3 lines were lost: they could not be written whole\nafter\n')).toBe(true);
});

test('the processes of a stack are known also if they have changed on a full disk', () => {
  updateStackState(disk, { supervisorPid: 1, workerPid: 2 });
  fill();
  updateStackState(disk, { workerPid: 1234567 });
  expect(readStackState(disk)).toEqual({ supervisorPid: 1, workerPid: 1234567 });
  updateStackState(disk, { workerPid: undefined, temporalAddress: '127.0.0.1:7233' });
  expect(readStackState(disk)).toEqual({ supervisorPid: 1, temporalAddress: '127.0.0.1:7233' });
});

test('a lock that finds no room leaves no file', () => {
  fill();
  expect(() => takeStackLock(disk, 'up')).toThrow('ENOSPC');
  expect(readdirSync(disk)).toEqual(['filler']);
});

test('a full disk ends nothing: starts are refused as retryable, and all continues once there is room', async () => {
  const run = home.run(['up', '--home', disk], { LONGHAUL_PROJECT: FIXTURES });
  const client = new WireClient(`${home.url}/mcp`);
  await eventually(
    () => `the stack is ready; it said: ${run.stdout()}${run.stderr()}`,
    () => run.stdout().includes('Longhaul is ready'),
    PROCESSES_MS,
  );
  const state = () => readStackState(disk);
  const running = await client.start('slow_compute', { seconds: 10 });

  const filler = fill();
  const { serverPid, workerPid } = state();
  const refused = await eventually('a start is refused', async () => {
    const { result, error } = await client.request('tools/call', {
      name: 'slow_compute',
      arguments: { seconds: 1 },
    });
    return result?.isError || error ? (result ?? error) : undefined;
  });
  expect(refused._meta['longhaul/error']).toEqual({ kind: 'unavailable', retryable: true });
  expect(refused.content[0].text).toContain('is full');
  const readiness = await fetch(`${home.url}/readyz`);
  expect(readiness.status).toBe(503);
  expect(((await readiness.json()) as any).checks.temporal).toEqual({
    status: 'failed',
    reason: "the disk of Temporal's database is full: nothing is stored until there is room",
  });

  // Output of a process that ends meanwhile must not end its supervisor, which restarts it.
  kill(workerPid!);
  await eventually('a worker was started again', () =>
    run.stderr().includes('The worker ended with signal SIGKILL'),
  );
  await eventually('its state names the new worker', () => isRunning(state().workerPid ?? workerPid!));
  expect([run.process.exitCode, isRunning(serverPid!)]).toEqual([null, true]);

  rmSync(filler);
  await eventually('the server is ready again', async () => (await fetch(`${home.url}/readyz`)).ok);
  await client.until(running, 'completed', STACK_MS);
  const later = await client.start('slow_compute', { seconds: 0 });
  await client.until(later, 'completed', PROCESSES_MS);
  run.process.kill('SIGTERM');
  expect(await run.ended).toBe(0);
});

test('a server whose Temporal finds no room is not ready, though its own disk has some', async () => {
  const temporal = home.run(['temporal', '--home', disk]);
  await eventually('Temporal answers', () => temporal.stdout().includes('Temporal:'), PROCESSES_MS);
  // Its own stack, on a Temporal that it doesn't know to be on this machine.
  const parts = await TestStack.start({ TEMPORAL_ADDRESS: `127.0.0.1:${home.temporalPort}` });
  try {
    const makeRoom = keepFull();
    await eventually('a start is refused', async () => {
      const given = { name: 'slow_compute', arguments: { seconds: 0 } };
      const { result, error } = await parts.client.request('tools/call', given);
      return result?.isError || error;
    });
    const readiness = await fetch(`${parts.base}/readyz`);
    expect(readiness.status).toBe(503);
    expect(((await readiness.json()) as any).checks.temporal.status).toBe('failed');
    makeRoom();
    await eventually('the server is ready again', () => parts.isReady(), STACK_MS);
  } finally {
    await parts.stop();
    temporal.process.kill('SIGTERM');
    await temporal.ended;
  }
});

describe("a full disk of the worker's host, with Temporal elsewhere", () => {
  let parts: TestStack;
  const ledger = () => join(home.path, 'ledger');
  const letGo = (step: string) => writeFileSync(`${ledger()}.${step}`, '');
  beforeEach(async () => {
    const pipelines = join(home.path, 'pipelines');
    mkdirSync(pipelines);
    writePipelines(pipelines, PIPELINES);
    // Its own stack, whose home is the full disk.
    parts = await TestStack.start({ LONGHAUL_HOME: disk, LONGHAUL_PIPELINE_FOLDERS: pipelines });
  });
  afterEach(() => parts?.stop());

  const isWaiting = (task: any) => task._meta?.['longhaul/progress']?.message?.startsWith('waiting for room');

  test('neither a workspace, a step nor an artifact fails for lack of room; a cancel ends the wait for some', async () => {
    const filler = fill();
    const token = await parts.client.start('three_writes', { ledger: ledger() });
    await parts.client.until(token, isWaiting);
    const canceled = await parts.client.start('three_writes', { ledger: `${ledger()}-canceled` });
    await parts.client.until(canceled, isWaiting);
    await parts.client.request('tasks/cancel', { taskId: canceled });
    await parts.client.until(canceled, 'cancelled');
    // Longer than a failing activity would be retried.
    await delay(20_000);
    expect(isWaiting(await parts.client.get(token))).toBe(true);
    expect(linesOf(ledger())).toEqual([]);
    rmSync(filler);
    await eventually('the first step runs', () => linesOf(ledger()).includes('first'));

    // The end of the step gives back what its output has not needed.
    let makeRoom = keepFull();
    letGo('first');
    await parts.client.until(token, isWaiting);
    expect(linesOf(ledger())).toEqual(['first']);
    makeRoom();
    await eventually('the second step runs', () => linesOf(ledger()).includes('second'));

    makeRoom = keepFull();
    letGo('second');
    await parts.client.until(token, isWaiting);
    makeRoom();
    const { result } = await parts.client.until(token, 'completed', PROCESSES_MS);
    expect(result.isError).toBeUndefined();
    expect(linesOf(ledger())).toEqual(['first', 'second']);
    expect(readText(join(disk, 'storage', artifactKey(token, 'work/report.txt')))).toBe(NUMBERS);
    expect(linesOf(`${ledger()}-canceled`)).toEqual([]);
  });

  test("a step's own command that finds no room fails as any other, once", async () => {
    const token = await parts.client.start('greedy', { ledger: ledger() });
    const { result } = await parts.client.until(token, 'completed', PROCESSES_MS);
    expect(textOf(result)).toContain('step "fill" failed with exit code 4');
    expect(linesOf(ledger())).toEqual(['run']);
  });
});
