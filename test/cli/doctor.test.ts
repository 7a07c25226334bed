/** `longhaul doctor`. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
  for (const check of ['node', 'settings', 'disk', 'temporal', 'worker', 'server', 'ready'])
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
