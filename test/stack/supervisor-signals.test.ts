/** Signals to a stack, starts that fail, and processes that others have left. */
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { STACK_MS } from '../support/limits.js';
import { eventually, isRunning, kill, TestHome } from './cli-process.js';

jest.setTimeout(STACK_MS);

function listens(server: Server, port: number): Promise<boolean> {
  if (server.listening) return Promise.resolve(true);
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
}

let home: TestHome;
beforeEach(async () => {
  home = await TestHome.create();
});
afterEach(() => home.remove());

test('a part that ends before it is ready is started ever more slowly, until it is ready', async () => {
  const run = await home.up();
  // Its port is taken the moment it is free: the next server can't start.
  const { server } = home.parts();
  const other = createServer();
  kill(server);
  await eventually('the port is taken', () => listens(other, home.port));
  await eventually('it backs off', () => run.stderr().includes('starting it again in 1.6 s'));
  const pausesOf = () =>
    [...run.stderr().matchAll(/The MCP server ended .*again in ([\d.]+) s/g)].map(([, s]) => s);
  expect(pausesOf().slice(0, 4)).toEqual(['0.2', '0.4', '0.8', '1.6']);
  other.close();
  await eventually('ready again', () => home.isReady());
  kill(home.parts().server);
  await eventually('at once', () => run.stderr().match(/SIGKILL; starting it again\./g)?.length === 2);
});

test('Ctrl-C, which reaches the whole process group, ends everything in order', async () => {
  const run = await home.up({}, { detached: true });
  const pids = Object.values(home.parts());
  process.kill(-run.pid, 'SIGINT');
  expect(await run.ended).toBe(0);
  expect(run.stderr()).not.toContain('starting it again');
  expect(pids.filter(isRunning)).toEqual([]);
});

test('a second Ctrl-C ends everything without waiting for the first', async () => {
  const run = await home.up();
  const pids = Object.values(home.parts());
  // A Temporal that is stopped can't drain: the first request alone would take its whole time.
  process.kill(home.parts().temporal, 'SIGSTOP');
  run.process.kill('SIGINT');
  await eventually('the drain has begun', () => run.stderr().includes('Stopping'));
  // Signals in quick succession count as one.
  await eventually('it has ended', () => run.process.exitCode !== null || void run.process.kill('SIGINT'));
  expect(await run.ended).toBe(130);
  await eventually('nothing runs', () => !pids.some(isRunning));
});

test('parts that could not notice the end of their supervisor are ended by the next up', async () => {
  const run = await home.up();
  const left = home.parts();
  for (const pid of [left.worker, left.server]) process.kill(pid, 'SIGSTOP');
  kill(run.pid);
  await eventually('the supervisor is gone', () => !isRunning(run.pid));
  expect([left.worker, left.server].every(isRunning)).toBe(true);
  await home.up();
  expect([left.worker, left.server].some(isRunning)).toBe(false);
});

test.each([
  ['the MCP server', 'port', 'LONGHAUL_PORT', '--port'],
  ['the embedded Temporal', 'temporalPort', 'LONGHAUL_TEMPORAL_PORT', '--temporal-port'],
] as const)(
  'a port in use by others is refused for %s, naming the setting',
  async (_use, name, variable, flag) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(home[name], '127.0.0.1', resolve));
    try {
      const run = home.run(['up']);
      expect(await run.ended).toBe(1);
      for (const part of [`port ${home[name]}`, variable, flag]) expect(run.stderr()).toContain(part);
      expect(home.state()).toEqual({});
    } finally {
      other.close();
    }
  },
);

test('down leaves a foreign process alone that has got the PID of a dead part', async () => {
  writeFileSync(
    `${home.path}/stack.json`,
    JSON.stringify({ temporalPid: process.pid, workerPid: process.pid }),
  );
  expect(await home.run(['down']).ended).toBe(0);
  expect(isRunning(process.pid)).toBe(true);
});
