import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Parts } from '../support/parts.js';

const run = promisify(execFile);
const folder = resolve('test/conformance');
/** The suite needs a newer Node than Longhaul does. */
const node = resolve(folder, 'node_modules/node/bin/node');
const suite = resolve(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

let parts: Parts;
beforeAll(async () => {
  if (!existsSync(node)) await run('npm', ['ci'], { cwd: folder });
  parts = await Parts.start();
}, 300_000);
afterAll(() => parts?.stop());

test.each([
  ['tasks-lifecycle', 9],
  ['tasks-capability-negotiation', 5],
  ['tasks-wire-fields', 4],
  ['tasks-request-state-removal', 3],
  ['tasks-mrtr-input', 4],
  ['tasks-request-headers', 5],
  ['tasks-dispatch-and-envelope', 9],
  // The suite itself skips what it has here.
  ['tasks-status-notifications', 0],
  ['tasks-required-task-error', 3],
  ['tasks-mrtr-composition', 2],
])('the official scenario %s passes, all %i checks of it', async (scenario, checks) => {
  const args = [suite, 'server', '--url', parts.client.url, '--scenario', scenario];
  const { stdout } = await run(node, args, { env: { ...process.env, NODE_OPTIONS: '' } }).catch(
    (failed: { stdout: string }) => failed,
  );
  expect(stdout).toContain(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`);
});
