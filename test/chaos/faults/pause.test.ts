import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { eventually, isRunning, kill } from '../../stack/cli-process.js';
import { pause } from './pause.js';

const started: ChildProcess[] = [];
afterEach(() => started.splice(0).forEach((child) => child.kill('SIGKILL')));

function startNode(...args: string[]): ChildProcess & { pid: number } {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  return child as ChildProcess & { pid: number };
}

const EVERY_20_MS = 'setInterval(() => process.stdout.write("."), 20)';

/** State of a process in proc(5): `T` is stopped. */
function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
}

test('a paused process does nothing, and continues afterwards', async () => {
  const child = startNode('-e', EVERY_20_MS);
  let beats = 0;
  child.stdout!.on('data', (chunk: Buffer) => (beats += chunk.length));
  await eventually('it works', () => beats > 5);
  const paused = pause(child.pid, 1_500);
  await eventually('it is stopped', () => stateOf(child.pid) === 'T');
  const [from, before] = [performance.now(), beats];
  await paused;
  expect(performance.now() - from).toBeGreaterThan(1_000);
  expect(beats - before).toBeLessThan(10);
  const after = beats;
  await eventually('it works again', () => beats > after + 10);
});

test('a process that is gone, or goes while it is paused, is no error', async () => {
  const child = startNode('-e', EVERY_20_MS);
  const paused = pause(child.pid, 500);
  await eventually('it is stopped', () => stateOf(child.pid) === 'T');
  kill(child.pid);
  await once(child, 'close');
  await paused;
  await pause(child.pid, 500);
  expect(isRunning(child.pid)).toBe(false);
});

test('the process continues on time though the one that paused it was killed', async () => {
  const child = startNode('-e', EVERY_20_MS);
  const script = join(mkdtempSync(join(tmpdir(), 'longhaul-pause-')), 'harness.ts');
  const module = new URL('./pause.ts', import.meta.url).href;
  writeFileSync(script, `import { pause } from ${JSON.stringify(module)}; await pause(${child.pid}, 2_000);`);
  const harness = startNode('--import', 'jiti/register', script);
  await eventually('it is stopped', () => stateOf(child.pid) === 'T');
  kill(harness.pid);
  await once(harness, 'close');
  expect(stateOf(child.pid)).toBe('T');
  await eventually('it continues', () => stateOf(child.pid) !== 'T', 10_000);
  rmSync(dirname(script), { recursive: true });
});
