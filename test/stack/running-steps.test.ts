/** Pipeline steps that run as their stack stops. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linesOf, processesOn, writePipelines } from '../pipelines/support.js';
import { STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { eventually, isRunning, kill, TestHome, type CommandRun } from './cli-process.js';

jest.setTimeout(STACK_MS);

const PIPELINE = `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  asked:
    steps:
      - { name: deaf, run: 'trap "" TERM; echo deaf >> "$INPUT_LEDGER"; sleep 600 & wait' }
  repeated:
    steps:
      - { name: cut off, idempotent: true, run: 'echo run >> "$INPUT_LEDGER"; sleep 600' }
`;

let folder: string;
let ledger: string;
let home: TestHome;
let environment: NodeJS.ProcessEnv;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-running-steps-'));
  ledger = join(folder, 'ledger');
  writePipelines(folder, { long: PIPELINE });
  home = await TestHome.create();
  environment = {
    LONGHAUL_PIPELINE_FOLDERS: folder,
    LONGHAUL_SHIPPED_TOOLS: 'false',
    LONGHAUL_MAX_STEPS: '2',
  };
});
afterEach(async () => {
  for (const pid of processesOn(ledger)) kill(pid);
  await home?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a stack with two running steps. @returns its process, and the operation's token */
async function withSteps(): Promise<{ up: CommandRun; token: string }> {
  const up = await home.up(environment);
  const token = await new WireClient(`${home.url}/mcp`).start('long', { ledger });
  await eventually('both steps run', () => linesOf(ledger).length === 2);
  return { up, token };
}

function expectNamed(said: string, token: string): void {
  expect(said).toContain(
    'Ended 2 pipeline steps that were running; at the next start, idempotent ones run again, and people are asked about others:\n',
  );
  expect(said).toContain(`  ${token}  asked / deaf\n`);
  expect(said).toContain(`  ${token}  repeated / cut off\n`);
  expect(processesOn(ledger)).toEqual([]);
}

test.each(['Ctrl-C', 'a second Ctrl-C', 'down'])(
  '%s ends them, names them, and leaves no process',
  async (how) => {
    const { up, token } = await withSteps();
    if (how === 'down') {
      const down = home.run(['down']);
      expect(await down.ended).toBe(0);
      expectNamed(down.stderr() + down.stdout(), token);
      expect(await up.ended).toBe(0);
    } else {
      up.process.kill('SIGINT');
      if (how !== 'Ctrl-C')
        // Signals in quick succession count as one.
        await eventually(
          'it has ended',
          () => up.process.exitCode !== null || void up.process.kill('SIGINT'),
        );
      expect(await up.ended).toBe(how === 'Ctrl-C' ? 0 : 130);
    }
    expectNamed(up.stderr(), token);
    expect(up.stderr()).not.toContain('slot supplier');

    // The stack records the end of each step alike.
    if (how !== 'a second Ctrl-C') return;
    await home.up(environment);
    const client = new WireClient(`${home.url}/mcp`);
    const { inputRequests } = await client.until(token, 'input_required');
    expect(JSON.stringify(inputRequests)).toContain('the stack was stopped while it ran, which ended it');
    await eventually('the idempotent one runs again', () => linesOf(ledger).length === 3);
    expect(linesOf(ledger).sort()).toEqual(['deaf', 'run', 'run']);
  },
);

test('down ends those of a stack that was killed, and waits for a slow relay of their output', async () => {
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  const slow = '#!/bin/sh\ncase $2 in */ended) sleep 1 ;; esac\nPATH=${PATH#*:} exec mv "$@"\n';
  writeFileSync(join(tools, 'mv'), slow, { mode: 0o755 });
  environment['PATH'] = `${tools}:${process.env['PATH']}`;
  const { up, token } = await withSteps();
  kill(up.pid);
  for (const pid of Object.values(home.parts())) await eventually('it has ended', () => !isRunning(pid));
  expect(processesOn(ledger)).not.toEqual([]);
  const down = home.run(['down']);
  expect(await down.ended).toBe(0);
  expectNamed(down.stderr() + down.stdout(), token);
  const again = home.run(['down']);
  expect(await again.ended).toBe(0);
  expect(again.stderr() + again.stdout()).toMatch(/^No stack is running on .*\n$/);
});
