/** `longhaul doctor`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findOnPath } from '../../worker/steps/containment.js';
import { freePort } from '../stack/cli-process.js';
import { TestStack } from '../support/test-stack.js';
import { documents, run } from './commands.js';

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts?.stop());

test('finds everything in order', async () => {
  const environment = { LONGHAUL_TASK_QUEUE: parts.taskQueue };
  const { code, stdout } = await run(parts, ['doctor'], { environment });
  for (const check of ['node', 'settings', 'disk', 'step processes', 'temporal', 'worker', 'server', 'ready'])
    expect(stdout).toMatch(new RegExp(`^(ok|warn) +${check} `, 'm'));
  expect(stdout).toContain(`port ${parts.port} (LONGHAUL_PORT)`);
  expect(code).toBe(0);
});

test('says what is missing and what to do, and ends with 1', async () => {
  const environment = { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
  const { code, stdout } = await run(parts, ['doctor', '--port', String(await freePort())], {
    environment,
  });
  expect(stdout).toMatch(/^fail +temporal .*\n +-> start it, or correct TEMPORAL_ADDRESS/m);
  expect(stdout).toMatch(/^fail +server .*ECONNREFUSED.*\n +-> run \S*longhaul up/m);
  expect(code).toBe(1);
  const asDocument = await run(parts, ['doctor', '--json'], { environment });
  expect(documents(asDocument)).toMatchObject([{ ok: false }]);
});

test('warns where hidden processes outlive their step: no cgroup to write to, no perl, no python3', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-path-'));
  symlinkSync(findOnPath('bash', process.env['PATH'])!, join(folder, 'bash'));
  // A mount of its own hides the cgroups. Needs root, or user namespaces.
  const script = 'mount -t tmpfs tmpfs /sys/fs/cgroup && PATH=$0 exec "$@"';
  const doctor = [process.execPath, resolve('dist/bin/longhaul.js'), 'doctor'];
  try {
    const { stdout, stderr } = spawnSync(
      'unshare',
      ['--map-root-user', '--mount', 'sh', '-c', script, folder, ...doctor],
      { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', LONGHAUL_PORT: String(parts.port) } },
    );
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(
        /^warn +step processes +a process that leaves .* outlives the step\n +-> put perl or python3/m,
      ),
      '',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
