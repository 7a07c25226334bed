import { describe, expect, test } from 'vitest';
import { Queue } from './queue.js';

describe('a queue', () => {
  test('gives back what was put first', () => {
    const queue = new Queue();
    queue.put(1);
    queue.put(2);
    expect([queue.take(), queue.take()]).toEqual([1, 2]);
  });

  test('is empty once all was taken', () => {
    const queue = new Queue();
    queue.put(1);
    queue.take();
    expect(queue.size).toBe(0);
  });
});
