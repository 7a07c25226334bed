/**
 * A pipeline of 50 steps that run as long as the test wants them to, through what happens to workers in a week: three deploys and
 * kill -9.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { eventually, kill, TestHome, type CommandRun } from '../stack/cli-process.js';
import { OUTAGE_MS, STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { stepLogText } from '../support/stored-log.js';
import { FIXTURES } from '../support/test-stack.js';
import { childrenOf, linesOf, processesOn, stepStatuses, writePipelines } from './support.js';

jest.setTimeout(STACK_MS + 2 * OUTAGE_MS);

const SECRET = 'a-secret-that-stays-in-its-process';
/** Jobs, with those that they need. */
const JOBS: Record<string, string[]> = {
  ...{ a: [], b: [], c: [], d: [], e: [], f: [] },
  ...{ g: ['a', 'b'], h: ['c'], i: ['d'], j: ['e', 'f'] },
};
const STEPS_EACH = 5;
/** Keys of steps, in turn: none may make a difference. */
const KINDS = [
  '',
  'idempotent: false',
  'idempotent: true',
  'retry: { attempts: 3 }',
  'timeout-minutes: 60',
  'continue-on-error: true',
];
const fails = (id: string) => ids.indexOf(id) % KINDS.length === KINDS.length - 1;

const idsOf = (job: string) => Array.from({ length: STEPS_EACH }, (_, at) => `${job}${at + 1}`);
const ids = Object.keys(JOBS).flatMap(idsOf);

/** Prints numbered lines until the test lets it go, each in two parts: the cut is within the secret. */
const stepText = (id: string) => `
      - name: step ${id}
        ${KINDS[ids.indexOf(id) % KINDS.length]}
        run: |
          echo "start ${id}" >> "$INPUT_LEDGER"
          n=0
          until [ -e "$INPUT_LEDGER.go/${id}" ] || [ -e "$INPUT_LEDGER.go/all" ]; do
            n=$((n + 1))
            printf '%s' "line $n: \${KEY:0:9}"
            sleep 0.2
            printf '%s\\n' "\${KEY:9}"
          done
          echo "ended after $n"
          echo "end ${id} $n" >> "$INPUT_LEDGER"
          exit ${fails(id) ? 3 : 0}`;
const jobText = ([job, needs]: [string, string[]]) => `
  ${job}:
    needs: [${needs.join(', ')}]
    steps:${idsOf(job).map(stepText).join('')}`;
const PIPELINE = `
secrets: [KEY]
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:${Object.entries(JOBS).map(jobText).join('')}
`;

const folder = mkdtempSync(join(tmpdir(), 'longhaul-outlive-'));
const ledger = join(folder, 'ledger');
const environment = {
  LONGHAUL_PROJECT: FIXTURES,
  LONGHAUL_PIPELINE_FOLDERS: folder,
  LONGHAUL_MAX_STEPS: '16',
  LONGHAUL_SECRET_KEY: SECRET,
};
const workers: CommandRun[] = [];
const letGo = new Set<string>();

let home: TestHome;
let client: WireClient;
beforeAll(async () => {
  mkdirSync(`${ledger}.go`);
  writePipelines(folder, { long: PIPELINE });
  home = await TestHome.create();
  client = new WireClient(`${home.url}/mcp`);
  home.run(['temporal']);
  await eventually('Temporal has left its address', () => home.state().temporalAddress);
  home.run(['server'], environment);
}, STACK_MS);
afterAll(async () => {
  for (const pid of processesOn(ledger)) kill(pid);
  await home?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a worker, without waiting for it. */
function startWorker(): CommandRun {
  const worker = home.run(['worker'], environment);
  workers.push(worker);
  return worker;
}

const runs = (worker: CommandRun) =>
  eventually('the worker runs', () => worker.stderr().includes('worker runs'), STACK_MS);

async function end(worker: CommandRun, signal: NodeJS.Signals): Promise<void> {
  worker.process.kill(signal);
  await worker.ended;
}

/** IDs in the lines of the ledger about starts or ends. */
function idsIn(what: 'start' | 'end'): string[] {
  const lines = linesOf(ledger).map((line) => line.split(' '));
  return lines.filter(([first]) => first === what).map(([, id]) => id!);
}

/** IDs of the steps that run and that the test holds, first started first. */
function held(): string[] {
  const ended = idsIn('end');
  return idsIn('start').filter((id) => !ended.includes(id) && !letGo.has(id));
}

/** Lets the steps that started first end. */
function release(count: number): string[] {
  const chosen = held().slice(0, count);
  expect(chosen).toHaveLength(count);
  for (const id of chosen) {
    letGo.add(id);
    writeFileSync(join(`${ledger}.go`, id), '');
  }
  return chosen;
}

const areOver = (chosen: string[]) =>
  eventually(`${chosen.join(', ')} have ended`, () => chosen.every((id) => idsIn('end').includes(id)));

/** Waits until a step of each open job runs; one whose task a killed worker had been given waits for a time-out first. */
async function allRun(): Promise<void> {
  await areOver([...letGo]);
  const ended = idsIn('end');
  const isOver = (job: string) => idsOf(job).every((id) => ended.includes(id));
  const open = Object.keys(JOBS).filter((job) => !isOver(job) && JOBS[job]!.every(isOver));
  await eventually(`steps of ${open.join(', ')} run`, () => held().length === open.length, OUTAGE_MS);
}

/** Polls the operation until it has ended; its statuses, as far as they could be read. */
async function watch(token: string, stop: AbortSignal): Promise<Set<string>> {
  const seen = new Set<string>();
  while (!stop.aborted) {
    const task = await client.get(token).catch(() => undefined);
    if (task) seen.add(task.status);
    await delay(200, undefined, { signal: stop }).catch(() => undefined);
  }
  return seen;
}

/** All text and bytes within a value. */
function* contents(value: unknown): Generator<Buffer> {
  if (typeof value === 'string' || value instanceof Uint8Array) yield Buffer.from(value as string);
  else if (value && typeof value === 'object')
    for (const [name, one] of Object.entries(value)) {
      yield Buffer.from(name);
      yield* contents(one);
    }
}

async function historyOf(token: string): Promise<any[]> {
  const connection = await Connection.connect({ address: home.state().temporalAddress! });
  try {
    const { events } = await new Client({ connection }).workflow.getHandle(token).fetchHistory();
    return events!;
  } finally {
    await connection.close();
  }
}

function filesWith(text: string): string[] {
  return readdirSync(home.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}

test('50 steps through deploys and kill -9: each runs once, nobody is asked, no line is lost', async () => {
  const stop = new AbortController();
  const first = startWorker();
  await eventually('a call would work', () => home.isReady(), STACK_MS);
  const token = await client.start('long', { ledger });
  const watched = watch(token, stop.signal);
  await allRun();

  // A deploy: the new worker is there before the old one gets SIGTERM.
  const second = startWorker();
  await runs(second);
  release(2);
  await end(first, 'SIGTERM');
  await areOver(release(2));
  await allRun();

  // A deploy with a gap, in which steps end.
  await end(second, 'SIGTERM');
  await areOver(release(3));
  const third = startWorker();
  await allRun();

  // A deploy of both at once.
  const fourth = startWorker();
  release(2);
  await end(third, 'SIGTERM');
  await areOver(release(2));
  await allRun();

  await end(fourth, 'SIGKILL');
  await areOver(release(3));
  const fifth = startWorker();
  await runs(fifth);
  await allRun();

  writeFileSync(join(`${ledger}.go`, 'all'), '');
  const { result } = await client.until(token, (task) => task.status !== 'working', OUTAGE_MS);
  stop.abort();
  // Nobody answers: a question that was asked at any time would be open still.
  expect([...(await watched)].filter((status) => status !== 'completed')).toEqual(['working']);
  expect((await client.get(token)).status).toBe('completed');
  expect(result.isError).toBeUndefined();

  const lines = linesOf(ledger);
  const numbers = new Map(lines.map((line) => [line.split(' ')[1], Number(line.split(' ')[2])]));
  expect(lines.map((line) => line.split(' ').slice(0, 2).join(' ')).sort()).toEqual(
    ids.flatMap((id) => [`end ${id}`, `start ${id}`]).sort(),
  );
  const statuses = stepStatuses(await childrenOf(client, token));
  expect(statuses).toEqual(
    Object.fromEntries(ids.map((id) => [`${id[0]}/${id.slice(1)}`, fails(id) ? 'failed' : 'completed'])),
  );
  for (const id of ids) {
    const log = stepLogText(home.path, token, id[0]!, Number(id.slice(1)))
      .split('\n')
      .slice(0, -1);
    const count = numbers.get(id)!;
    const wanted = Array.from({ length: count }, (_, at) => `line ${at + 1}: ***`);
    expect({ id, log }).toEqual({ id, log: [...wanted, `ended after ${count}`] });
  }
  await eventually('no process of a step is left', () => processesOn(ledger).length === 0);
  await eventually(
    'nothing is left to report',
    () => readdirSync(join(home.path, 'running-steps')).length === 0,
  );

  const history = await historyOf(token);
  expect([...contents(history)].filter((bytes) => bytes.includes(SECRET))).toEqual([]);
  expect(filesWith(SECRET)).toEqual([]);
  const outputs = workers.map((worker) => worker.stdout() + worker.stderr());
  expect(outputs.filter((output) => output.includes(SECRET))).toEqual([]);
  expect(outputs.join('').split('adopted a step').length - 1).toBeGreaterThanOrEqual(4 * 3);
});
