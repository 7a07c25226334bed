import { describe, expect, test } from '@jest/globals';
import { roundProgress } from '../../engine/read/progress.js';

describe('digits of progress', () => {
  test.each([
    [
      { progress: 23.750000000000004, total: 30 },
      { progress: 23.75, total: 30 },
    ],
    [{ progress: 0.1 + 0.2 }, { progress: 0.3 }],
    [{ progress: 229.99999999999997 }, { progress: 230 }],
    [
      { progress: 3.998, total: 20 },
      { progress: 3.99, total: 20 },
    ],
    [
      { progress: 19.9999, total: 20 },
      { progress: 19.99, total: 20 },
    ],
    [
      { progress: 0.0012345, total: 0.01 },
      { progress: 0.00123, total: 0.01 },
    ],
    [
      { progress: 12345678, total: 20000000 },
      { progress: 12345678, total: 20000000 },
    ],
    [
      { progress: 100 / 3, total: 100 / 3 },
      { progress: 33.34, total: 33.34 },
    ],
    [
      { progress: 33.333, total: 100 / 3 },
      { progress: 33.33, total: 33.34 },
    ],
    [
      { progress: 21, total: 20 },
      { progress: 21, total: 20 },
    ],
    [
      { progress: 0, total: 0, message: 'nothing' },
      { progress: 0, total: 0, message: 'nothing' },
    ],
  ])('%j becomes %j', (given, tidy) => {
    expect(roundProgress(given)).toEqual(tidy);
  });

  test('never go back where progress does not, and reach the total only with it', () => {
    let last = 0;
    const steps = 7919;
    for (let step = 0, sum = 0; step <= steps; step += 1, sum += 1 / 7) {
      const { progress, total } = roundProgress({ progress: sum, total: steps / 7 });
      expect(progress).toBeGreaterThanOrEqual(last);
      if (sum < steps / 7 - 0.01) expect(progress).toBeLessThan(total!);
      last = progress;
    }
  });
});
