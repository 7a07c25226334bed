/** Temporal's time, as a process hears of it. The test's clock is Temporal's. */
import { randomUUID } from 'node:crypto';
import { expect, jest, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import { followTime, temporalNowMs, temporalTime } from '../../platform/temporal/time.js';
import { forAllTests } from '../support/for-all-tests.js';
import { connectToTemporal } from '../support/run-temporal.js';

/** A poll of Temporal's own worker lasts a minute. */
const POLL_MS = 60_000;
/** Difference that reading two clocks one after the other makes, in milliseconds. */
const READING_MS = 2;

const connection = followTime(await forAllTests(connectToTemporal()));
const client = new Client({ connection });

test('is never ahead, and at most a poll behind once it was asked for, whatever the local clock says', async () => {
  const realNowMs = Date.now.bind(Date);
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => realNowMs() + 24 * 3_600_000);
  const nowMs = await temporalNowMs(client).finally(() => clock.mockRestore());
  expect(nowMs).toBeLessThanOrEqual(Date.now() + READING_MS);
  // As long as a poll and its answer take on a busy machine.
  expect(nowMs).toBeGreaterThan(Date.now() - 2 * POLL_MS);
});

test('is exact after the description of a workflow that has just been started', async () => {
  const time = temporalTime(connection);
  expect(time.isExact).toBe(false);
  const fromMs = Date.now();
  const workflowId = randomUUID();
  const handle = await client.workflow.start('none', { workflowId, taskQueue: workflowId });
  await handle.describe();
  time.hasHeardNow();
  expect(time.isExact).toBe(true);
  const [nowMs, toMs] = [time.nowMs, Date.now()];
  expect(nowMs).toBeGreaterThanOrEqual(fromMs - READING_MS);
  expect(nowMs).toBeLessThanOrEqual(toMs + READING_MS);
  await handle.terminate();
});

test('is carried on from the newest time, whatever is heard later', () => {
  const time = temporalTime({});
  const hourAgoMs = Date.now() - 3_600_000;
  time.hearMs(hourAgoMs);
  time.hearMs(hourAgoMs - 60_000);
  expect(time.nowMs).toBeGreaterThanOrEqual(Math.floor(hourAgoMs));
  expect(time.nowMs).toBeLessThan(Date.now() - 3_000_000);
});

test('is asked for once by concurrent callers, and not again while it is recent', async () => {
  const time = temporalTime({});
  let calls = 0;
  const read = async () => {
    calls += 1;
    return [{ seconds: 1_000 }];
  };
  expect(time.isDue).toBe(true);
  await Promise.all([time.ask(read), time.ask(read)]);
  expect(calls).toBe(1);
  expect(time.isDue).toBe(false);
  expect(time.nowMs).toBeGreaterThanOrEqual(1_000_000);
});
