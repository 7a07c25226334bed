import { expect, test } from 'vitest';
import { Queue } from './queue.js';

test('an empty queue gives nothing', () => expect(new Queue().take()).toBeUndefined());
test.skip('a queue can be closed', () => undefined);
