import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findTemporalBinary } from '../../stack/temporal-binary.js';
import { loadSettings } from '../../platform/config.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

/** As many as Temporal's own store has room for. */
const TAKEN = Array.from({ length: 10 }, (_, index) => `Taken${index}`);

let temporal: ReturnType<typeof spawn>;
let parts: TestStack;
beforeAll(async () => {
  const { binFolder } = await loadSettings();
  const { path } = await findTemporalBinary({ binFolder }, () => undefined);
  const port = await freePort();
  const attributes = TAKEN.flatMap((name) => ['--search-attribute', `${name}=Keyword`]);
  temporal = spawn(
    path,
    ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port), ...attributes],
    {
      stdio: 'ignore',
    },
  );
  parts = await TestStack.start({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
}, PROCESSES_MS);
afterAll(async () => {
  await parts?.stop();
  temporal?.kill('SIGKILL');
});

test('where search attributes cannot be created, all but lists works, and says so', async () => {
  const { client } = parts;
  const taskId = await client.start('confirm_delete', { filename: 'plain.txt' });
  const task = await client.until(taskId, 'input_required');
  await client.answer(taskId, Object.keys(task.inputRequests)[0]!, {
    action: 'accept',
    content: { confirm: true },
  });
  await client.until(taskId, 'completed');
  const { result } = await client.request('tools/call', { name: 'operation_list' });
  expect(result).toMatchObject({
    isError: true,
    content: expect.arrayContaining([{ type: 'text', text: expect.stringContaining("lists don't work") }]),
    _meta: { 'longhaul/error': { kind: 'unavailable', retryable: false } },
  });
  await eventually('the server has said it', () =>
    parts.parts.some((part) => part.output().includes("can't be created")),
  );
});
