/** Clocks: a server or command whose clock differs from Temporal's by an hour still knows which workers poll. */
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { Clock } from '../chaos/faults/clock.js';
import { run } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const HOUR_SECONDS = 3_600;
/** Status of an operation without a worker, after 10 to 99 seconds. */
const WAITS_SINCE = /^no worker has taken the work for \d\d s$/;
/** Environment of the parts whose clock is Temporal's. */
const REAL_CLOCK = { LD_PRELOAD: '' };

const folder = temporaryFolder('clocks');

const stacks: TestStack[] = [];
afterEach(async () => {
  await Promise.all(stacks.splice(0).map((stack) => stack.stop()));
});

/** A server whose clock is that many seconds ahead of Temporal's. */
async function startServer(seconds: number): Promise<{ stack: TestStack; clock: Clock }> {
  const clock = await Clock.create(join(folder, String(seconds)));
  clock.jump(seconds);
  // Own stack: the server's clock is wrong.
  const stack = await TestStack.serverAlone({ ...clock.environment });
  stacks.push(stack);
  return { stack, clock };
}

const statusMessageOf = async ({ client }: TestStack, taskId: string): Promise<string> =>
  (await client.get(taskId)).statusMessage ?? '';

/** Starts an operation, once the server listens. */
const startAt = ({ client }: TestStack, tool: string, args?: object) =>
  eventually('the server takes calls', () => client.start(tool, args).catch(() => undefined));

async function knowsWhichWorkersPoll(seconds: number): Promise<void> {
  const { stack, clock } = await startServer(seconds);
  const { client, taskQueue } = stack;
  const doctor = () =>
    run(stack, ['doctor'], { environment: { ...clock.environment, LONGHAUL_TASK_QUEUE: taskQueue } });
  const worker = stack.worker(REAL_CLOCK);
  await stack.ready();
  expect((await doctor()).stdout).toMatch(/ok +worker/);
  const taskId = await client.start('confirm_delete', { filename: 'a.txt' });
  await client.until(taskId, 'input_required');
  expect(await statusMessageOf(stack, taskId)).not.toMatch(/no worker/);

  await worker.end('SIGKILL');
  const later = await client.start('confirm_delete', { filename: 'b.txt' });
  await eventually('its status says that nobody takes it', async () =>
    WAITS_SINCE.test(await statusMessageOf(stack, later)),
  );
  const text = await eventually('the server says that no worker polls', async () => {
    const response = await fetch(`${stack.base}/readyz`);
    return response.status === 503 ? response.text() : undefined;
  });
  expect(text).toContain(`no worker polls the task queue`);
  await eventually(
    'a command, which may be a minute behind, says so too',
    async () => !/ok +worker/.test((await doctor()).stdout),
  );
}

test('with a clock an hour ahead or behind, a server is ready while a worker polls, and says when none does', () =>
  Promise.all([knowsWhichWorkersPoll(HOUR_SECONDS), knowsWhichWorkersPoll(-HOUR_SECONDS)]));

test('a server with a clock behind ends an overdue operation, and one ahead ends none that waits for a worker', async () => {
  const [{ stack: behind }, { stack: ahead }] = await Promise.all([
    startServer(-HOUR_SECONDS),
    startServer(2 * HOUR_SECONDS),
  ]);
  const overdue = await startAt(behind, 'timed');
  const waiting = await startAt(ahead, 'slow_compute', { seconds: 0 });
  // A run that is overdue is ended once it has waited for 10 s.
  await eventually('it has waited for longer', async () =>
    /for [2-9]\d s$/.test(await statusMessageOf(ahead, waiting)),
  );
  ahead.worker(REAL_CLOCK);
  await ahead.client.until(waiting, 'completed');

  const { result } = await behind.client.until(overdue, 'completed');
  expect(result).toMatchObject({ isError: true });
  expect(await statusMessageOf(behind, overdue)).toMatch(/and no worker ended it$/);
});
