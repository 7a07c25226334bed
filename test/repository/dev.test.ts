/** `dev.js`, which `npm run dev` runs, on a copy of the built code, with a stand-in for the compiler. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { eventually, isRunning, TestHome } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { writeFiles } from '../support/write-files.js';

const { rooms } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as { rooms: string[] };
const COPIED = ['build-program.js', 'dev.js', 'package.json', ...rooms];
const BUILT = readdirSync('dist').map((name) => join('dist', name));

/** Prints what `tsc --watch` prints: at its start, and when the file `changed` is written. */
const COMPILER = `
  const { watchFile } = require('node:fs');
  const say = () => console.log('Found 0 errors. Watching for file changes.');
  watchFile('changed', { interval: 100 }, say);
  say();
`;

/** Below the repository, where imports find its node_modules, and in a folder that all tools ignore. */
const clone = mkdtempSync(resolve('dist/dev-'));
const home = await TestHome.create();
afterAll(async () => {
  await home.remove();
  rmSync(clone, { recursive: true });
});

test('a compiled change restarts worker and server, Temporal stays, and Ctrl-C ends everything', async () => {
  for (const each of [...COPIED, ...BUILT])
    cpSync(each, join(clone, each), { recursive: true, preserveTimestamps: true });
  writeFiles(clone, { 'node_modules/typescript/bin/tsc': COMPILER, changed: '' });
  const dev = spawn(process.execPath, ['dev.js'], {
    cwd: clone,
    // A process group, as a terminal makes one for a command: Ctrl-C reaches all of it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      TEMPORAL_ADDRESS: '',
      LONGHAUL_HOME: home.path,
      LONGHAUL_PORT: String(home.port),
      LONGHAUL_TEMPORAL_PORT: String(home.temporalPort),
    },
  });
  let output = '';
  for (const stream of [dev.stdout, dev.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise((settle) => dev.once('close', settle));
  try {
    await eventually(
      () => `ready: ${output}`,
      () => output.includes('Longhaul is ready'),
      STACK_MS,
    );
    const before = home.parts();

    writeFileSync(join(clone, 'changed'), 'again');
    await eventually(
      () => `worker and server are others: ${output}`,
      async () => {
        const { server, worker } = home.parts();
        return server !== before.server && worker !== before.worker && (await home.isReady());
      },
      PROCESSES_MS,
    );
    const after = home.parts();
    expect(after.temporal).toBe(before.temporal);
    expect(isRunning(after.temporal)).toBe(true);

    process.kill(-dev.pid!, 'SIGINT');
    await ended;
    for (const pid of Object.values({ ...after, supervisor: dev.pid! }))
      expect([pid, isRunning(pid)]).toEqual([pid, false]);
  } finally {
    if (dev.exitCode === null && dev.signalCode === null) process.kill(-dev.pid!, 'SIGKILL');
  }
});
