import { describe, expect, test } from '@jest/globals';
import { estimateFrom, fitLine, median, workedSeconds, type PastRun } from '../../operations/estimate.js';

const runs = (...pairs: [size: number | undefined, seconds: number][]): PastRun[] =>
  pairs.map(([size, seconds]) => ({ seconds, ...(size === undefined ? {} : { size }) }));
const onLine = (base: number, each: number, sizes: number[]) =>
  runs(...sizes.map((size): [number, number] => [size, base + each * size]));

describe('an estimate', () => {
  test('is unknown without past runs', () => {
    expect(estimateFrom([], undefined)).toBeUndefined();
    expect(estimateFrom([], 5)).toBeUndefined();
  });

  test('of work whose size nobody knows is the median', () => {
    expect(estimateFrom(onLine(0, 1, [1, 2, 3, 4, 50]), undefined)).toBe(3);
  });

  test('of work of a known size lies on the line through past runs, also beyond them', () => {
    const past = onLine(2, 0.5, [10, 20, 30, 40, 50]);
    expect(estimateFrom(past, 25)).toBeCloseTo(14.5);
    expect(estimateFrom(past, 100)).toBeCloseTo(52);
  });

  test('hardly moves when a fifth of the runs were held up', () => {
    const past = [...onLine(2, 0.5, [10, 15, 20, 25, 30, 35, 40, 45]), ...runs([12, 900], [44, 700])];
    expect(Math.abs(estimateFrom(past, 30)! - 17)).toBeLessThan(17 * 0.1);
  });

  test('is the median while there are too few runs or sizes', () => {
    expect(estimateFrom(onLine(0, 1, [1, 2, 3, 4]), 100)).toBe(2.5);
    expect(estimateFrom(onLine(0, 1, [1, 1, 1, 9, 9, 9]), 100)).toBe(5);
  });

  test('never estimates larger work as quicker', () => {
    const past = runs([10, 9], [20, 8], [30, 7], [40, 6], [50, 5]);
    expect(estimateFrom(past, 1000)).toBe(7);
  });

  test('is never below a tenth of a second, and no line begins below zero', () => {
    const steep = onLine(-10, 1, [11, 12, 13, 14, 15]);
    expect(fitLine(steep)!.seconds).toBe(0);
    for (const size of [0, 1, 11]) expect(estimateFrom(steep, size)).toBeGreaterThanOrEqual(0.1);
    expect(estimateFrom(runs([1, 0], [2, 0], [3, 0], [4, 0], [5, 0]), 4)).toBe(0.1);
  });

  test('leaves runs whose size is unknown out of the line', () => {
    const past = [...onLine(0, 1, [1, 2, 3, 4, 5]), ...runs([undefined, 999], [undefined, 998])];
    expect(estimateFrom(past, 10)).toBeCloseTo(10);
  });
});

describe("the author's line", () => {
  const author = { seconds: 1, secondsPerUnit: 1 };
  const took = (seconds: number, count: number, size: number) =>
    runs(...Array.from({ length: count }, (): [number, number] => [size, seconds]));

  test('stands for work that is larger or smaller than all that was seen, however often that was', () => {
    const burst = took(1.2, 40, 1);
    expect(estimateFrom(burst, 300, author)).toBe(301);
    expect(estimateFrom(took(250, 2, 300), 1, author)).toBe(2);
    expect(estimateFrom(burst, 1, author)).toBeCloseTo(1.2);
  });

  test('stands beyond sizes that are alike, whose line could have any slope', () => {
    const alike = runs([1, 2.1], [1.1, 2.0], [1.2, 2.2], [1.3, 2.0], [1.05, 2.4]);
    expect(estimateFrom(alike, 300, author)).toBe(301);
  });

  test('never estimates larger work as quicker than past runs, nor smaller work as slower', () => {
    expect(estimateFrom(took(900, 3, 100), 200, author)).toBe(900);
    expect(estimateFrom(took(3, 3, 100), 50, author)).toBe(3);
  });

  test('gives the slope between sizes that few runs cover', () => {
    expect(estimateFrom(runs([10, 21], [30, 41]), 20, author)).toBe(31);
  });

  test('gives way to a line through runs of many sizes, up to ten times the largest', () => {
    const past = onLine(2, 0.5, [10, 20, 30, 40, 50]);
    expect(estimateFrom(past, 400, author)).toBeCloseTo(202);
    expect(estimateFrom(past, 5000, author)).toBe(5001);
  });
});

test('the median of an even number lies between the two in the middle', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test('time spent waiting for people or a worker is not counted as work, nor are differences between clocks', () => {
  const at = (second: number) => new Date(second * 1000);
  expect(workedSeconds(at(0), at(60), { awaitedMs: 50_000 })).toBe(10);
  expect(workedSeconds(at(0), at(60), { awaitedMs: 20_000, queuedMs: 30_000 })).toBe(10);
  expect(workedSeconds(at(10), at(9))).toBe(0);
});
