import { expect, test } from '@jest/globals';
import { roundProgress } from '../../engine/read/progress.js';

test.each([
  [23.750000000000004, 30, 23.75, 30],
  [3.998, 20, 3.99, 20],
  [19.9999, 20, 19.99, 20],
  [0.0012345, 0.01, 0.00123, 0.01],
  [12345678, 20000000, 12345678, 20000000],
  [100 / 3, 100 / 3, 33.34, 33.34],
  [33.333, 100 / 3, 33.33, 33.34],
  [21, 20, 21, 20],
  [0, 0, 0, 0],
])('progress %d of %d is shown as %d of %d', (progress, total, shown, shownTotal) => {
  const message = 'as it is';
  expect(roundProgress({ progress, total, message })).toEqual({
    progress: shown,
    total: shownTotal,
    message,
  });
});

test.each([
  [0.1 + 0.2, 0.3],
  [229.99999999999997, 230],
])('progress %d without a total is shown as %d', (progress, shown) => {
  expect(roundProgress({ progress })).toEqual({ progress: shown });
});

test('digits of progress never go back where progress does not, and reach the total only with it', () => {
  let last = 0;
  const steps = 7919;
  for (let step = 0, sum = 0; step <= steps; step += 1, sum += 1 / 7) {
    const { progress, total } = roundProgress({ progress: sum, total: steps / 7 });
    expect(progress).toBeGreaterThanOrEqual(last);
    if (sum < steps / 7 - 0.01) expect(progress).toBeLessThan(total!);
    last = progress;
  }
});
