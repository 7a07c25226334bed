/** Times of an operation on a server whose clock is ahead of Temporal's. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Clock } from '../chaos/faults/clock.js';
import { TestHome } from '../stack/cli-process.js';
import { INSTALL_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';

jest.setTimeout(INSTALL_MS);

const folder = mkdtempSync(join(tmpdir(), 'longhaul-clock-'));
let home: TestHome | undefined;
afterEach(async () => {
  await home?.remove();
  rmSync(folder, { recursive: true, force: true });
});

test('lastUpdatedAt never decreases, and is never before createdAt, while the clock is an hour ahead', async () => {
  const clock = await Clock.create(folder);
  home = await TestHome.create();
  // Own stack: its clock is wrong.
  await home.up({ LONGHAUL_PROJECT: resolve('test/chaos/project'), ...clock.environment });
  const client = new WireClient(`${home.url}/mcp`);
  clock.jump(3_600);
  const start = async () =>
    client.get(
      await client.start('batches', {
        ledger: join(folder, 'ledger'),
        name: 'a',
        batches: 2,
        secondsEach: 1,
      }),
    );
  const isAhead = ({ createdAt }: { createdAt: string }) => Date.parse(createdAt) > Date.now() + 1_800_000;
  let first = await start();
  // Processes see the jump within a second.
  while (!isAhead(first)) first = await start();
  const times: string[] = [first.createdAt, first.lastUpdatedAt];
  await client.until(first.taskId, ({ status, lastUpdatedAt }) => {
    times.push(lastUpdatedAt);
    return status === 'completed';
  });
  expect(times).toEqual(times.toSorted());
});
