/** Rate of notifications, and the record of what a stream has delivered. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { WatchedRecord } from '../../engine/index.js';
import type { Guard } from '../../mcp-server/guard.js';
import type { Notification } from '../../mcp-server/sessions/session-notifier.js';
import { followJob } from '../../mcp-server/two-stage/notifications.js';
import { DeliveredJobs } from '../../mcp-server/two-stage/delivered-jobs.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

const engine = { tools: { get: () => undefined }, heardNowMs: Date.now() } as unknown as Guard;
const record = (progress: number, more: Partial<WatchedRecord> = {}): WatchedRecord => ({
  token: 'job',
  runId: 'run',
  tool: 'sync',
  principal: 'anonymous',
  createdAt: '2026-11-21T12:00:00Z',
  updatedAt: '2026-11-21T12:00:01Z',
  status: 'working',
  inputRequests: {},
  progress: { progress, total: 100 },
  keepAliveSeconds: 60,
  attempt: 1,
  live: false,
  hasProgressed: true,
  ...more,
});
const closed = (more: Partial<WatchedRecord> = {}) =>
  record(100, { status: 'completed', closedAt: '2026-11-21T12:00:42Z', result: { files: 1 }, ...more });

function listener(delivered?: DeliveredJobs) {
  const sent: { method: string; params: any }[] = [];
  const send = async ({ method, params }: Notification) => void sent.push({ method, params });
  const follower = followJob({ engine, send, ...(delivered ? { delivered } : {}) });
  return { sent, follower, shares: () => sent.map(({ params }) => params.progress) };
}

describe('progress', () => {
  test('is delivered at most once a second, and the newest then', async () => {
    const { sent, follower, shares } = listener();
    const startedAtMs = performance.now();
    for (let step = 0; step <= 50; step += 1) {
      await follower.notify(record(step));
      await jest.advanceTimersByTimeAsync(50);
    }
    await jest.advanceTimersByTimeAsync(1_100);
    expect(sent.length).toBeGreaterThanOrEqual(3);
    // The first at once.
    expect(sent.length - 1).toBeLessThanOrEqual((performance.now() - startedAtMs) / 1_000);
    expect(shares()[0]).toBe(0);
    expect(shares().at(-1)).toBe(0.5);
    follower.close!();
  });

  test('never goes back, and the same is not delivered again; number and text are of the same attempt', async () => {
    const { sent, follower, shares } = listener();
    for (const step of [40, 20, 20, 50]) {
      await follower.notify(record(step, { statusMessage: `at ${step}` }));
      await jest.advanceTimersByTimeAsync(1_050);
    }
    expect(shares()).toEqual([0.4, 0.5]);
    expect(sent.map(({ params }) => params.message)).toEqual(['at 40', 'at 50']);
  });

  test('is 0 while nobody knows how much there is', async () => {
    const { follower, shares } = listener();
    await follower.notify(record(0, { progress: { progress: 12 } }));
    expect(shares()).toEqual([0]);
  });

  test('has the open questions, and is sent when they change though nothing else does', async () => {
    const { sent, follower } = listener();
    const asked = (...keys: string[]) =>
      record(0, {
        status: 'input_required',
        statusMessage: 'waits',
        inputRequests: Object.fromEntries(
          keys.map((key) => [
            key,
            { message: 'Continue?', schema: { type: 'object' }, expiresAt: '2026-11-22T12:00:00Z' },
          ]),
        ),
      });
    for (const next of [asked('q1', 'q2'), asked('q1'), asked('q1'), record(0)]) {
      await follower.notify(next);
      await jest.advanceTimersByTimeAsync(1_050);
    }
    const keys = sent.map(({ params }) => params.questions?.map(({ key }: any) => key));
    expect(keys).toEqual([['q1', 'q2'], ['q1'], undefined]);
    expect(sent[1]!.params.questions).toEqual([
      {
        key: 'q1',
        message: 'Continue?',
        schema: { type: 'object' },
        expires_at: '2026-11-22T12:00:00Z',
        answer_with: {
          method: 'tools/call',
          params: { name: 'operation_answer', arguments: { token: 'job', key: 'q1' } },
        },
      },
    ]);
  });

  test('that waits for its time is not delivered once the result is', async () => {
    const { sent, follower } = listener();
    for (const step of [1, 2]) await follower.notify(record(step));
    expect(await follower.notify(closed())).toBe(true);
    await jest.advanceTimersByTimeAsync(1_100);
    expect(sent.map(({ method }) => method)).toEqual(['notifications/progress', 'notifications/tool_result']);
  });
});

describe('what a stream has delivered', () => {
  test('is known to the stream that resumes it', async () => {
    const delivered = new DeliveredJobs(Date.now);
    const first = listener(delivered);
    await first.follower.notify(closed());
    await first.follower.notify(record(70, { token: 'other' }));
    const position = JSON.parse(JSON.stringify(delivered.position));
    const second = listener(new DeliveredJobs(Date.now, position));
    expect(await second.follower.notify(closed())).toBe(true);
    expect(second.sent).toEqual([]);
    const third = listener(new DeliveredJobs(Date.now, position));
    await third.follower.notify(record(10, { token: 'other' }));
    expect(third.shares()).toEqual([0.7]);
  });

  test('includes all that ended before the time from which on it remembers', async () => {
    const { sent, follower } = listener(
      new DeliveredJobs(Date.now, { since: Date.parse('2026-11-21T12:00:42Z'), jobs: {} }),
    );
    expect(await follower.notify(closed())).toBe(true);
    expect(sent).toEqual([]);
  });

  test('is remembered for five minutes by the clock that it was given', () => {
    let nowMs = Date.parse('2026-11-21T12:00:00Z');
    const delivered = new DeliveredJobs(() => nowMs);
    expect(delivered.position.since).toBe(0);
    nowMs += 600_000;
    expect(new Date(delivered.position.since).toISOString()).toBe('2026-11-21T12:05:00.000Z');
  });

  test('fits a header, however many jobs there were', () => {
    const delivered = new DeliveredJobs(Date.now);
    for (let index = 0; index < 1_000; index += 1)
      delivered.markDelivered(`job-${index}`, index % 2 ? true : 1 / 3);
    const { jobs } = delivered.position;
    expect(JSON.stringify(jobs).length).toBeLessThan(4_000);
    expect(new DeliveredJobs(Date.now, delivered.position).progressOf('job-999')).toBe(true);
  });
});

test('an expired job has no result to deliver', async () => {
  const { sent, follower } = listener();
  expect(await follower.notify(closed({ status: 'expired' }))).toBe(true);
  expect(sent).toEqual([]);
});
