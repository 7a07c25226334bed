/** The server and the worker that files of a run share. Calls no tool: `npm run test:coverage` takes it as a bare start and stop. */
import { expect, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

test(
  'a file that closes the shared stack leaves it running for others',
  async () => {
    const first = await TestStack.shared();
    await first.temporal();
    await first.stop();
    const second = await TestStack.shared();
    expect([second.base, second.taskQueue]).toEqual([first.base, first.taskQueue]);
    expect(await second.isReady()).toBe(true);
    await second.stop();
  },
  PROCESSES_MS,
);
