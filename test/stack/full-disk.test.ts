import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { LogFile } from '../../stack/log-files.js';
import { WireClient } from '../support/mcp.js';
import { FIXTURES } from '../support/parts.js';
import { eventually, isRunning, kill, readText, TestHome } from './cli-process.js';

jest.setTimeout(240_000);

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

/** Leaves no room at all. @returns the path of what takes it up */
function fill(): string {
  const filler = join(disk, 'filler');
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
  return filler;
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

test('a full disk ends nothing: starts are refused as retryable, and all continues once there is room', async () => {
  const run = home.run(['up', '--home', disk], { LONGHAUL_PROJECT: FIXTURES });
  const client = new WireClient(`${home.url}/mcp`);
  await eventually(
    () => `the stack is ready; it said: ${run.stdout()}${run.stderr()}`,
    () => run.stdout().includes('Longhaul is ready'),
    120_000,
  );
  const state = () => JSON.parse(spawnSync('cat', [join(disk, 'stack.json')], { encoding: 'utf8' }).stdout);
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

  // What a process that ends meanwhile writes must not end its supervisor, which starts it again.
  kill(workerPid);
  await eventually('a worker was started again', () =>
    run.stderr().includes('The worker ended with signal SIGKILL'),
  );
  expect([run.process.exitCode, isRunning(serverPid)]).toEqual([null, true]);

  rmSync(filler);
  await client.until(running, 'completed', 180_000);
  const later = await client.start('slow_compute', { seconds: 0 });
  await client.until(later, 'completed', 120_000);
  run.process.kill('SIGTERM');
  expect(await run.ended).toBe(0);
});
