import { expect, jest, test } from '@jest/globals';
import { INSTALL_MS } from '../support/limits.js';
import { chaos } from './chaos.js';

jest.setTimeout(INSTALL_MS);

test('operations through kills of every process: none is lost or doubled, nothing goes back', async () => {
  const { violations, operations, polls } = await chaos({ operations: 18, kills: 8, seed: 1 });
  expect(violations).toEqual([]);
  expect(operations).toBe(18);
  expect(polls).toBeGreaterThan(18 * 4);
});
