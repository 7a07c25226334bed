import { expect, test } from '@jest/globals';
import { Slots } from '../../mailbox/client/slots.js';

const PATIENT_MS = 60_000;

test('only so many have a slot at once; the others get one in their order, urgent ones first', async () => {
  const slots = new Slots(2);
  const entered: string[] = [];
  const leave = new Map<string, () => void>();
  const enter = async (name: string, isUrgent = false) => {
    leave.set(name, await slots.enter(PATIENT_MS, isUrgent));
    entered.push(name);
  };
  const all = [enter('a'), enter('b'), enter('c'), enter('d'), enter('urgent', true)];
  for (const name of ['a', 'b', 'urgent', 'c', 'd']) {
    while (!leave.has(name)) await new Promise(setImmediate);
    leave.get(name)!();
  }
  await Promise.all(all);
  expect(entered).toEqual(['a', 'b', 'urgent', 'c', 'd']);
  expect(slots.isUnused).toBe(true);
});

test('a caller that waits too long for a slot is refused, and takes none from the others', async () => {
  const slots = new Slots(1);
  const leave = await slots.enter(PATIENT_MS, false);
  await expect(slots.enter(50, false)).rejects.toMatchObject({ kind: 'unavailable', retryable: true });
  const next = slots.enter(PATIENT_MS, false);
  leave();
  (await next)();
  expect(slots.isUnused).toBe(true);
});
