import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import PQueue from 'p-queue';
import { inTurn } from '../../mailbox/client/updates.js';

const within = (limitMs: number, isUrgent = false) => ({ endMs: performance.now() + limitMs, isUrgent });
const PATIENT_MS = 60_000;

test('only so many calls run at once; the others follow in their order, urgent ones first', async () => {
  const queue = new PQueue({ concurrency: 2 });
  const begun: string[] = [];
  const end = new Map<string, () => void>();
  const call = (name: string, isUrgent = false) =>
    inTurn(queue, within(PATIENT_MS, isUrgent), () => {
      begun.push(name);
      return new Promise<void>((resolve) => end.set(name, resolve));
    });
  const all = [call('a'), call('b'), call('c'), call('d'), call('urgent', true)];
  for (const name of ['a', 'b', 'urgent', 'c', 'd']) {
    while (!end.has(name)) await new Promise(setImmediate);
    end.get(name)!();
  }
  await Promise.all(all);
  expect(begun).toEqual(['a', 'b', 'urgent', 'c', 'd']);
});

test('a call that waits too long for its turn is refused, and takes none from the others', async () => {
  const queue = new PQueue({ concurrency: 1 });
  let end!: () => void;
  const first = inTurn(queue, within(PATIENT_MS), () => new Promise<void>((resolve) => (end = resolve)));
  const late = inTurn(queue, within(50), async () => 'late');
  await expect(late).rejects.toMatchObject({ kind: 'unavailable', retryable: true });
  const next = inTurn(queue, within(PATIENT_MS), async () => 'next');
  end();
  expect(await next).toBe('next');
  await first;
});

test('a call that has its turn may last longer than it would have waited', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const answer = inTurn(queue, within(20), async () => {
    await delay(60);
    return 'answered';
  });
  expect(await answer).toBe('answered');
});
