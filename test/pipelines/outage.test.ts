import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { eventually, kill, TestHome, type CommandRun } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { FIXTURES } from '../support/test-stack.js';
import { linesOf, textOf, writePipelines } from './support.js';

/** Time-out for the heartbeats of steps; ordinary activities have a shorter one. */
const HEARTBEAT_TIMEOUT_S = 120;

/** A step that ends once the test lets it, or a moment after SIGTERM. */
const step = (end: string) => `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  work:
    steps:
      - name: slow
        run: |
          trap 'until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done; echo stopped >> "$INPUT_LEDGER"; exit 1' TERM
          echo started >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          echo ended >> "$INPUT_LEDGER"
          ${end}
`;
const folder = mkdtempSync(join(tmpdir(), 'longhaul-outage-'));
const environment = {
  LONGHAUL_PROJECT: FIXTURES,
  LONGHAUL_PIPELINE_FOLDERS: folder,
  LONGHAUL_MAX_STEPS: '8',
};

let home: TestHome;
let client: WireClient;
let temporal: CommandRun;
beforeEach(async () => {
  writePipelines(folder, { succeeds: step('true'), fails: step('exit 3') });
  home = await TestHome.create();
  client = new WireClient(`${home.url}/mcp`);
  await startTemporal();
  home.run(['server'], environment);
});
afterEach(() => home?.remove());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function startTemporal(): Promise<void> {
  temporal = home.run(['temporal']);
  await eventually('Temporal has left its address', () => home.state().temporalAddress);
}

async function killTemporal(): Promise<void> {
  kill(home.parts().temporal);
  await temporal.ended;
}

const ledger = (name: string) => join(folder, name);
const letGo = (name: string) => writeFileSync(`${ledger(name)}.go`, '');

/** Starts a pipeline with a ledger of its own, and waits until its step runs. */
async function begin(tool: string, name: string): Promise<string> {
  const token = await client.start(tool, { ledger: ledger(name) });
  await eventually(`${name} has started`, () => linesOf(ledger(name)).includes('started'));
  return token;
}

/** The events about activities, and the highest attempt that was started. */
async function activityEvents(token: string): Promise<{ events: string[]; attempts: number }> {
  const connection = await Connection.connect({ address: home.state().temporalAddress! });
  try {
    const history = await new Client({ connection }).workflow.getHandle(token).fetchHistory();
    const attributes = history.events!.flatMap((event) => Object.entries(event));
    const attempts = attributes.map(([name, value]) =>
      name === 'activityTaskStartedEventAttributes' ? value.attempt : 0,
    );
    const events = attributes.flatMap(([name, value]) => {
      const event = value && /^activityTask(.*)EventAttributes$/.exec(name)?.[1];
      return event ? [event] : [];
    });
    return { events, attempts: Math.max(...attempts) };
  } finally {
    await connection.close();
  }
}

/** The workspace is opened, then the step runs once. */
const once = (end: string) => ['Scheduled', 'Started', 'Completed', 'Scheduled', 'Started', end];

/** 30 s are longer than the SDK tries to report an activity's end. */
test.each([30, HEARTBEAT_TIMEOUT_S + 30])(
  'what ends while Temporal is away for %d s is reported once as it is back',
  async (seconds) => {
    const named = (name: string) => `${name}-${seconds}`;
    home.run(['worker'], environment);
    await eventually('a call would work', () => home.isReady());
    const tokens = {
      succeeds: await begin('succeeds', named('succeeds')),
      fails: await begin('fails', named('fails')),
      canceled: await begin('succeeds', named('canceled')),
      longer: await begin('fails', named('longer')),
      ordinary: await client.start('slow_compute', { seconds: 10 }),
    };
    await client.until(tokens.ordinary, (task) => task._meta?.['longhaul/progress']?.progress > 0);
    await client.request('tasks/cancel', { taskId: tokens.canceled });
    await eventually('the step is being stopped', () =>
      readdirSync(join(home.path, 'workspaces', tokens.canceled, 'work', 'steps', '1', '1.1')).includes(
        'stopped-canceled',
      ),
    );
    await killTemporal();
    const away = Date.now();
    for (const name of ['succeeds', 'fails', 'canceled']) letGo(named(name));
    await eventually('they have ended', () =>
      ['ended', 'ended', 'stopped'].every((line, at) =>
        linesOf(ledger(named(['succeeds', 'fails', 'canceled'][at]!))).includes(line),
      ),
    );
    await delay(Math.max(0, seconds * 1_000 - (Date.now() - away)));
    await startTemporal();
    // Nobody answers: a step that was asked about would not end.
    await client.until(tokens.succeeds, 'completed', OUTAGE_MS);
    const fails = await client.until(tokens.fails, 'completed', OUTAGE_MS);
    await client.until(tokens.canceled, 'cancelled', OUTAGE_MS);
    await client.until(tokens.ordinary, 'completed', OUTAGE_MS);
    expect(textOf(fails.result)).toContain('step "slow" failed with exit code 3');
    letGo(named('longer'));
    const longer = await client.until(tokens.longer, 'completed', OUTAGE_MS);
    expect(textOf(longer.result)).toContain('step "slow" failed with exit code 3');
    for (const name of ['succeeds', 'fails', 'longer'])
      expect(linesOf(ledger(named(name)))).toEqual(['started', 'ended']);
    expect(linesOf(ledger(named('canceled')))).toEqual(['started', 'stopped']);
    await eventually(
      'nothing is left to report',
      () => readdirSync(join(home.path, 'running-steps')).length === 0,
    );
    if (seconds > HEARTBEAT_TIMEOUT_S) return;
    for (const [name, end] of [
      ['succeeds', 'Completed'],
      ['fails', 'Failed'],
      ['longer', 'Failed'],
    ] as const)
      expect(await activityEvents(tokens[name])).toEqual({ events: once(end), attempts: 1 });
    const { events } = await activityEvents(tokens.canceled);
    expect(events.at(-1)).toBe('Canceled');
    expect(events).not.toContain('TimedOut');
    expect((await activityEvents(tokens.ordinary)).attempts).toBe(1);
  },
  2 * OUTAGE_MS,
);

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a worker that gets %s before it could report an end leaves it to the next one',
  async (signal) => {
    const worker = home.run(['worker'], environment);
    await eventually('a call would work', () => home.isReady());
    const token = await begin('succeeds', signal);
    await killTemporal();
    letGo(signal);
    const journal = join(home.path, 'workspaces', token, 'work', 'steps', '1', '1.1');
    await eventually('the step has ended', () => readdirSync(journal).includes('exit.json'));
    await eventually('the worker tries to report it', () =>
      worker.stderr().includes("an activity's outcome could not be reported"),
    );
    worker.process.kill(signal);
    await worker.ended;
    await startTemporal();
    home.run(['worker'], environment);
    await client.until(token, 'completed', 240_000);
    expect(await activityEvents(token)).toEqual({ events: once('Completed'), attempts: 1 });
    expect(linesOf(ledger(signal))).toEqual(['started', 'ended']);
    await eventually(
      'nothing is left to report',
      () => readdirSync(join(home.path, 'running-steps')).length === 0,
    );
  },
  360_000,
);
