/** Clocks: a server or command whose clock differs from Temporal's by an hour still knows which workers poll. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Clock } from '../chaos/faults/clock.js';
import { run } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(STACK_MS);

const HOUR_SECONDS = 3_600;
/** Status of an operation without a worker, after 10 to 99 seconds. */
const WAITS_SINCE = /^no worker has taken the work for \d\d s$/;
/** Environment of the parts whose clock is Temporal's. */
const REAL_CLOCK = { LD_PRELOAD: '' };

let folder: string;
let clock: Clock;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-clocks-'));
  clock = await Clock.create(folder);
}, STACK_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let parts: TestStack;
afterEach(() => parts?.stop());

/** A server by the clock, and a worker by Temporal's. */
async function startServer(): Promise<{ kill: () => Promise<void> }> {
  // Own stack: the server's clock is wrong.
  parts = await TestStack.serverAlone({ ...clock.environment });
  const worker = parts.worker(REAL_CLOCK);
  await eventually('the worker polls', async () => {
    const { workflowService } = await parts.temporal();
    const { pollers } = await workflowService.describeTaskQueue({
      namespace: 'default',
      taskQueue: { name: parts.taskQueue },
      taskQueueType: 1,
    });
    return pollers?.length;
  });
  return { kill: () => worker.end('SIGKILL') };
}

const readiness = async () => {
  const response = await fetch(`${parts.base}/readyz`);
  return { status: response.status, text: await response.text() };
};

const doctor = () =>
  run(parts, ['doctor'], {
    environment: { ...clock.environment, LONGHAUL_TASK_QUEUE: parts.taskQueue },
  });

const statusMessageOf = async (taskId: string): Promise<string> =>
  (await parts.client.get(taskId)).statusMessage ?? '';

describe.each([
  ['ahead of', HOUR_SECONDS],
  ['behind', -HOUR_SECONDS],
])('with a clock an hour %s that of Temporal', (_, seconds) => {
  beforeAll(() => clock.jump(seconds));

  test('a server is ready while a worker polls, and after it was killed says that none does', async () => {
    const worker = await startServer();
    await parts.ready();
    expect((await doctor()).stdout).toMatch(/ok +worker/);
    const taskId = await parts.client.start('confirm_delete', { filename: 'a.txt' });
    await parts.client.until(taskId, 'input_required');
    expect(await statusMessageOf(taskId)).not.toMatch(/no worker/);

    await worker.kill();
    const later = await parts.client.start('confirm_delete', { filename: 'b.txt' });
    await eventually('its status says that nobody takes it', async () =>
      WAITS_SINCE.test(await statusMessageOf(later)),
    );
    const { text } = await eventually('the server says that no worker polls', async () => {
      const seen = await readiness();
      return seen.status === 503 ? seen : undefined;
    });
    expect(text).toContain(`no worker polls the task queue`);
    await eventually(
      'a command, which may be a minute behind, says so too',
      async () => !/ok +worker/.test((await doctor()).stdout),
    );
  });
});

test('a server with a clock behind ends an operation that is overdue', async () => {
  clock.jump(-HOUR_SECONDS);
  // Own stack: the server's clock is wrong.
  parts = await TestStack.serverAlone({ ...clock.environment });
  const taskId = await eventually('the server takes calls', () =>
    parts.client.start('timed').catch(() => undefined),
  );
  const { result } = await parts.client.until(taskId, 'completed');
  expect(result).toMatchObject({ isError: true });
  expect(await statusMessageOf(taskId)).toMatch(/and no worker ended it$/);
});

test('a server with a clock ahead of the maximum duration ends no operation that waits for a worker', async () => {
  clock.jump(2 * HOUR_SECONDS);
  // Own stack: the server's clock is wrong.
  parts = await TestStack.serverAlone({ ...clock.environment });
  const taskId = await eventually('the server takes calls', () =>
    parts.client.start('slow_compute', { seconds: 0 }).catch(() => undefined),
  );
  // A run that is overdue is ended once it has waited for 10 s.
  await eventually('it has waited for longer', async () =>
    /for [2-9]\d s$/.test(await statusMessageOf(taskId)),
  );
  parts.worker(REAL_CLOCK);
  await parts.client.until(taskId, 'completed');
});
