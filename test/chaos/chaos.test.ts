import { expect, test } from '@jest/globals';
import { chaos } from './chaos.js';

test('operations through kills of every process: none is lost or doubled, nothing goes back', async () => {
  const { violations, operations, polls } = await chaos({ operations: 18, kills: 6 });
  expect(violations).toEqual([]);
  expect(operations).toBe(18);
  expect(polls).toBeGreaterThan(18 * 4);
}, 600_000);
