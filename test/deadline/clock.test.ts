/** The clock of the maximum duration, and the budget of cleanups, while a worker is there. */
import { beforeAll, expect, test } from '@jest/globals';
import { Caller } from '../operation-tools/support.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const WORK = ['child', 'activity', 'local activity'];
/** Operations by what they do beside their question: for longer than the maximum, and for a second. */
const running = new Map<string, string>();
const finished = new Map<string, string>();

const parts = await forAllTests(TestStack.shared());
const caller = new Caller(parts.client);
beforeAll(async () => {
  for (const work of WORK) {
    running.set(work, await caller.start('beside', { work, seconds: 40 }));
    finished.set(work, await caller.start('beside', { work, seconds: 1 }));
  }
  finished.set('none', await caller.start('beside', { work: 'none', seconds: 1 }));
});

const get = (token: string) => caller.get('operation_get', { token, view: 'full' });
const ended = (token: string) =>
  eventually('it has ended', async () => {
    const seen = await get(token);
    return ['queued', 'running', 'input_required'].includes(seen.status) ? undefined : seen;
  });
const describeRun = async (token: string) => (await parts.temporal()).workflow.getHandle(token).describe();

test.each(WORK)('beside an open question the clock runs during work of a %s', async (work) => {
  expect(await ended(running.get(work)!)).toMatchObject({
    status: 'errored',
    error: { kind: 'timed_out', message: 'the work took longer than its maximum of 10 s' },
  });
});

test.each(['none', ...WORK])(
  'beside an open question the clock stands still after the end of work of a %s',
  async (work) => {
    const token = finished.get(work)!;
    const { startTime } = await describeRun(token);
    await eventually('the maximum has passed', () => Date.now() - startTime.getTime() > 16_000);
    expect(await get(token)).toMatchObject({ status: 'input_required' });
    await caller.get('operation_answer', { token, content: { sure: true } });
    expect(await ended(token)).toMatchObject({ status: 'completed', result: { answer: 'accept' } });
  },
);

test('cleanups run side by side, and are cancelled at the end of their budget', async () => {
  const token = await caller.start('cleaned', {});
  await eventually('it works', async () => (await get(token)).stage === 'works');
  await caller.get('operation_cancel', { token });
  const { status, partial } = await ended(token);
  expect({ status, partial }).toEqual({
    status: 'cancelled',
    partial: { ended: ['third', 'first', 'second, cancelled'] },
  });
});
