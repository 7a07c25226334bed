import { expect, jest, test } from '@jest/globals';
import { INSTALL_MS } from '../support/limits.js';
import { chaos } from './chaos.js';
import { FAULT_KINDS, faultCounts } from './schedule.js';
import { longhaul } from './targets/longhaul.js';

jest.setTimeout(INSTALL_MS);

test('operations through faults of every kind: none is lost, doubled or changed, and nothing goes back', async () => {
  const kills = 6;
  const { violations, operations, faults } = await chaos({
    target: longhaul(),
    operations: 24,
    kills,
    seed: 1,
    faults: FAULT_KINDS,
  });
  expect(violations).toEqual([]);
  expect(operations).toBe(24);
  const happened = FAULT_KINDS.map((kind) => [
    kind,
    Object.values(faults)
      .filter((fault) => fault.kind === kind)
      .reduce((sum, { times }) => sum + times, 0),
  ]);
  expect(Object.fromEntries(happened)).toEqual(faultCounts(kills, FAULT_KINDS));
});
