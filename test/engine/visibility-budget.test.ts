import { expect, test } from '@jest/globals';
import { VisibilityBudget, type VisibilityUse } from '../../engine/list/visibility-budget.js';

/** Uses of a budget, in the order in which they were allowed, with the milliseconds until then. */
async function takeAll(budget: VisibilityBudget, uses: VisibilityUse[]) {
  const startedAtMs = performance.now();
  const taken: { use: VisibilityUse; ms: number }[] = [];
  await Promise.all(
    uses.map(async (use) => {
      await budget.take(use);
      taken.push({ use, ms: performance.now() - startedAtMs });
    }),
  );
  return taken;
}

test('begun lists come first, then lists, sessions and estimates; no second has more calls than allowed', async () => {
  const budget = new VisibilityBudget(2);
  await takeAll(budget, ['estimates', 'estimates']);
  const taken = await takeAll(budget, [
    'estimates',
    'sessions',
    'list',
    'rest of a list',
    'sessions',
    'list',
  ]);
  expect(taken.map(({ use }) => use)).toEqual([
    'rest of a list',
    'list',
    'list',
    'sessions',
    'sessions',
    'estimates',
  ]);
  // Timers may fire a millisecond early.
  for (const [index, { ms }] of taken.slice(2).entries()) expect(ms - taken[index]!.ms).toBeGreaterThan(980);
});

test('a list that would wait for longer than its limit is refused, and may succeed later; it costs nothing', async () => {
  const budget = new VisibilityBudget(1);
  await budget.take('list');
  await expect(budget.take('list', 200)).rejects.toMatchObject({ kind: 'unavailable', retryable: true });
  const [taken] = await takeAll(budget, ['estimates']);
  expect(taken!.ms).toBeLessThan(1_500);
});
