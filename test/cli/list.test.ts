/** `longhaul list`. */
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually, freePort } from '../stack/cli-process.js';
import { answers } from '../support/service.js';
import { TestStack } from '../support/test-stack.js';
import { documents, run } from './commands.js';

/** More than what other test files, whose operations are listed too, start meanwhile. */
const MANY = '1000';

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts?.stop());

/** Starts a short operation, and gives its token once it has completed. */
async function completed(): Promise<string> {
  const token = await parts.client.start('slow_compute', { seconds: 0 });
  await parts.client.until(token, 'completed');
  return token;
}

test('list shows operations by tool and status', async () => {
  const token = await completed();
  const args = ['list', '--tool', 'slow_compute', '--status', 'completed', '--limit', MANY];
  const table = await eventually('it is listed', async () => {
    const { stdout } = await run(parts, args);
    return stdout.includes(token) ? stdout : undefined;
  });
  expect(table.split('\n')[0]).toMatch(/^TOKEN +TOOL +STATUS +STAGE +STARTED +TOOK$/);
  const [page] = documents<{ operations: { tool: string; status: string }[] }>(
    await run(parts, [...args, '--json']),
  );
  expect(
    page!.operations.every(({ tool, status }) => tool === 'slow_compute' && status === 'completed'),
  ).toBe(true);
});

test('list takes the time from which on operations were started', async () => {
  const token = await completed();
  let listed: Awaited<ReturnType<typeof run>> | undefined;
  const since = async (time: string) => {
    listed = await run(parts, ['list', '--tool', 'slow_compute', '--limit', MANY, '--since', time]);
    return listed.stdout;
  };
  await eventually(
    () => `it is listed: ${listed?.stderr} ${listed?.stdout.split('\n').length} lines`,
    async () => (await since('1h')).includes(token),
  );
  expect(await since('2020-01-01')).toContain(token);
  expect(await since('2099-01-01T00:00:00Z')).toBe('No operations.\n');
});

test('list --tool of a tool that is no longer served finds its operations, and is no error when none fits', async () => {
  const token = await completed();
  const port = String(await freePort());
  const server = parts.server({ LONGHAUL_PROJECT: resolve('test/cli/project'), LONGHAUL_PORT: port });
  const list = (...args: string[]) =>
    run(parts, ['list', '--port', port, '--limit', MANY, '--tool', ...args]);
  await eventually('the other server is ready', () => answers(`http://127.0.0.1:${port}/readyz`));
  await eventually('it is listed', async () => (await list('slow_compute')).stdout.includes(token));
  const none = await list('slow_compute', '--since', '2099-01-01');
  expect(none).toMatchObject({ code: 0, stdout: 'No operations.\n' });
  expect(await list('no_such_tool', '--since', '1h')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown tool "no_such_tool"'),
  });
  await server.end();
});
