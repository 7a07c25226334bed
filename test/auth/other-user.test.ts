/** Another Unix user of the same machine: reads nothing of the home, and has no effect through the ports. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection, Client } from '@temporalio/client';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { STACK_MS } from '../support/limits.js';
import { eventually, TestHome } from '../stack/cli-process.js';

jest.setTimeout(STACK_MS);

/** User and group of `nobody` on Linux. */
const NOBODY = 65_534;

/** Reads files and asks ports, and prints how each attempt ended. */
const ATTEMPTS = `
const { readFileSync, readdirSync } = require('node:fs');
const { connect } = require('node:net');
const [home, url, temporalPort] = process.argv.slice(1);
const outcomes = {};
const attempt = async (name, run) => {
  try { outcomes[name] = await run(); } catch (error) { outcomes[name] = error.code ?? String(error); }
};
const reached = (port) => new Promise((settle, fail) => {
  const socket = connect(Number(port), '127.0.0.1', () => { socket.destroy(); settle('reached'); });
  socket.once('error', fail);
});
(async () => {
  outcomes.uid = process.getuid();
  for (const name of ['.', 'keys', 'storage', 'logs', 'workspaces']) await attempt(name, () => readdirSync(home + '/' + name).length);
  for (const name of ['secret', 'temporal.db', 'stack.json', 'host-id', 'logs/server.log'])
    await attempt(name, () => readFileSync(home + '/' + name).length);
  await attempt('jobs', async () => (await fetch(url + '/v1/jobs')).status);
  await attempt('mcp', async () => (await fetch(url + '/mcp', { method: 'POST', body: '{}' })).status);
  await attempt('temporal', () => reached(temporalPort));
  process.stdout.write(JSON.stringify(outcomes));
})();
`;

let home: TestHome;
beforeEach(async () => {
  home = await TestHome.create();
});
afterEach(() => home.remove());

test('nobody reads no file of the home, gets no answer without a key, and starts nothing that works', async () => {
  if (process.getuid?.() !== 0)
    throw new Error(
      'this test becomes the user nobody: run it as root, as CI does (sudo -E npm test -- ...)',
    );
  // The home itself is made by the test; Longhaul closes it.
  chmodSync(home.path, 0o755);
  await home.run(['keys', 'add', 'alice']).ended;
  await home.up({ LONGHAUL_AUTHENTICATION: 'keys' });
  const state = home.state();
  const port = state.temporalAddress!.split(':').at(-1)!;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['-e', ATTEMPTS, home.path, home.url, port],
    {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: {},
    },
  );
  const { uid, jobs, mcp, temporal, ...files } = JSON.parse(stdout);
  expect({ uid, jobs, mcp }).toEqual({ uid: NOBODY, jobs: 401, mcp: 401 });
  expect(new Set(Object.values(files))).toEqual(new Set(['EACCES']));
  // Temporal has no authentication: anyone who reaches its port is its client.
  expect(temporal).toBe('reached');
  const marker = join(home.path, 'marker');
  const connection = await Connection.connect({ address: state.temporalAddress! });
  try {
    const client = new Client({ connection });
    const step = { name: 'mark', run: `echo > ${marker}`, env: {}, secrets: [], idempotent: true };
    const job = { needs: [], if: 'success', env: {}, steps: [step], artifacts: [], outputs: [] };
    const pipeline = { name: 'x', secrets: [], env: {}, concurrency: 1, outputs: {}, jobs: { mark: job } };
    const handle = await client.workflow.start('pipeline', {
      workflowId: 'of-nobody',
      taskQueue: 'longhaul',
      args: [{ pipeline, inputs: {} }],
    });
    await eventually('it has failed', async () => (await handle.describe()).status.name === 'FAILED');
    await expect(handle.result()).rejects.toMatchObject({
      cause: { message: expect.stringContaining('no signature of Longhaul') },
    });
    expect(existsSync(marker)).toBe(false);
  } finally {
    await connection.close();
  }
});
