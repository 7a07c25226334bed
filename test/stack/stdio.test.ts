import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { eventually, isRunning, TestHome, type CommandRun } from './cli-process.js';

jest.setTimeout(STACK_MS);

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

let home: TestHome;
beforeEach(async () => {
  home = await TestHome.create();
});
afterEach(() => home.remove());

async function answered(run: CommandRun): Promise<void> {
  run.process.stdin?.write(`${JSON.stringify(INITIALIZE)}\n`);
  await eventually('an answer', () => run.stdout().includes('"id":1'));
}

test('two stdio clients that start at once get one stack, which outlives them, and to which a third attaches', async () => {
  const runs = [home.run(['stdio']), home.run(['stdio'])];
  await Promise.all(runs.map(answered));
  // They are answered before the stack is there.
  await eventually('the stack is ready', () => home.isReady(), PROCESSES_MS);
  const log = () => readFileSync(join(home.path, 'logs', 'up.log'), 'utf8');
  await eventually('it says so', () => log().includes('Longhaul is ready'));
  const { supervisorPid } = home.state();
  expect(isRunning(supervisorPid as number)).toBe(true);
  expect(log().match(/Longhaul is ready/g)).toHaveLength(1);
  for (const run of runs) run.process.stdin?.end();
  expect(await Promise.all(runs.map((run) => run.ended))).toEqual([0, 0]);
  expect(await home.isReady()).toBe(true);
  const third = home.run(['stdio']);
  await answered(third);
  expect(home.state()).toMatchObject({ supervisorPid });
  expect(isRunning(supervisorPid as number)).toBe(true);
  // Standard output has MCP messages alone.
  for (const line of third.stdout().trim().split('\n'))
    expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
  third.process.stdin?.end();
  expect(await third.ended).toBe(0);
});

test('stdio says why when the stack does not start', async () => {
  const run = home.run(['stdio'], { LONGHAUL_BIN_FOLDER: join(home.path, 'none'), PATH: '' });
  expect(await run.ended).toBe(1);
  expect(run.stdout()).toBe('');
  expect(run.stderr()).toContain('no Temporal to run');
});

test('call --up starts the stack, which outlives it, and the next call uses it', async () => {
  const data = mkdtempSync(join(tmpdir(), 'longhaul-data-'));
  writeFileSync(join(data, 'a.csv'), 'x\n1\n');
  const call = () =>
    home.run(['call', '--up', 'analyze_dataset', '--path', 'a.csv', '--json'], {
      LONGHAUL_DATA_FOLDERS: data,
    });
  const first = call();
  expect({ code: await first.ended, printed: first.stdout(), said: first.stderr() }).toMatchObject({
    code: 0,
    said: expect.stringContaining('starting one'),
  });
  const { supervisorPid } = home.state();
  expect(isRunning(supervisorPid as number)).toBe(true);
  const second = call();
  expect(await second.ended).toBe(0);
  expect(home.state()).toMatchObject({ supervisorPid });
  rmSync(data, { recursive: true });
});

test('call --up refuses an address', async () => {
  const run = home.run(['call', '--up', 'analyze_dataset', '--url', 'http://127.0.0.1:1/mcp']);
  expect(await run.ended).toBe(2);
  expect(run.stderr()).toContain('--url');
});
