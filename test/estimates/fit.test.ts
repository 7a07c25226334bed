import { describe, expect, test } from '@jest/globals';
import { estimateFrom, median, workedSeconds, type PastRun } from '../../operations/estimate.js';

const runs = (...pairs: [size: number | undefined, seconds: number][]): PastRun[] =>
  pairs.map(([size, seconds]) => ({ seconds, ...(size === undefined ? {} : { size }) }));
const onLine = (base: number, each: number, sizes: number[]) =>
  runs(...sizes.map((size): [number, number] => [size, base + each * size]));
/** Authors' estimates: of each call, and of what the size adds. */
const author = (seconds: number, each: number) => ({ seconds, per: { argument: 'items', seconds: each } });
const unsized = { seconds: 60 };

describe('an estimate', () => {
  test('is unknown without past runs', () => {
    expect(estimateFrom([], undefined, unsized)).toBeUndefined();
    expect(estimateFrom([], 5, author(1, 1))).toBeUndefined();
  });

  test('of work whose size is unknown is the median of what runs took', () => {
    expect(estimateFrom(onLine(0, 1, [1, 2, 3, 4, 50]), undefined, unsized)).toBe(3);
    expect(estimateFrom(runs([undefined, 4], [undefined, 6]), 9, author(1, 1))).toBe(5);
  });

  test('of work of a known size is what runs took for each unit of it', () => {
    expect(estimateFrom(onLine(0, 0.5, [10, 20, 30]), 100, unsized)).toBeCloseTo(50);
  });

  test('has what each call takes from the author', () => {
    const past = onLine(2, 0.5, [10, 20, 30, 40, 50]);
    expect(estimateFrom(past, 25, author(2, 9))).toBeCloseTo(14.5);
    expect(estimateFrom(past, 400, author(2, 9))).toBeCloseTo(202);
  });

  test('has what each call takes from the fastest run if the author expected more', () => {
    const seconds = estimateFrom(onLine(0.7, 0.012, [5, 10, 20, 40, 80]), 56, author(2, 0.06))!;
    expect(Math.abs(seconds / (0.7 + 0.012 * 56) - 1)).toBeLessThan(0.15);
    expect(estimateFrom(runs([10, 5], [20, 9]), 30, author(100, 7))).toBeCloseTo(11);
    expect(estimateFrom(runs([10, 5]), 20, author(100, 7))).toBe(5);
  });

  test('hardly moves when a fifth of the runs were held up', () => {
    const past = [...onLine(2, 0.5, [10, 15, 20, 25, 30, 35, 40, 45]), ...runs([12, 900], [44, 700])];
    expect(Math.abs(estimateFrom(past, 30, author(2, 9))! - 17)).toBeLessThan(17 * 0.1);
  });

  test("is the author's for work of over ten times the largest size, however many small runs there were", () => {
    const burst = Array.from({ length: 40 }, (): PastRun => ({ size: 1, seconds: 1.2 }));
    expect(estimateFrom(burst, 300, author(1, 1))).toBeUndefined();
    expect(estimateFrom(burst, 1, author(1, 1))).toBeCloseTo(1.2);
  });

  test('of small work is small after large work alone', () => {
    expect(estimateFrom(runs([300, 250], [300, 250]), 1, author(1, 1))).toBeCloseTo(1.83);
  });

  test('is never below a tenth of a second', () => {
    expect(estimateFrom(runs([1, 0], [2, 0]), 4, author(1, 1))).toBe(0.1);
    expect(estimateFrom(runs([1, 1], [0, 1]), 0, unsized)).toBe(0.1);
    expect(estimateFrom(runs([undefined, 0]), undefined, unsized)).toBe(0.1);
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
