import { expect, jest, test } from '@jest/globals';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);

test('a cancel while no worker runs is 202, and ends canceled once one does', async () => {
  // A stack of its own: its worker is killed.
  const parts = await TestStack.start();
  try {
    const jobs = new JobsClient(parts.base);
    await parts.parts[1]!.end('SIGKILL');
    const id = await jobs.start('large_values');
    expect(await jobs.job(id)).toMatchObject({ status: 'queued' });
    for (let time = 0; time < 2; time += 1)
      expect(await jobs.request('DELETE', `/v1/jobs/${id}?reason=late`)).toMatchObject({
        status: 202,
        body: { cancel_requested: true, cancel_reason: 'late' },
      });
    parts.worker();
    await jobs.until(id, 'canceled');
  } finally {
    await parts.stop();
  }
});
