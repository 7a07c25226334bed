/** Clocks: a command whose clock differs from Temporal's by an hour still knows which builds have workers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Clock } from '../chaos/faults/clock.js';
import { documents, run } from '../cli/commands.js';
import { STACK_MS } from '../support/limits.js';
import { deployForEachTest, type Deployed } from './support.js';

jest.setTimeout(STACK_MS);

const HOUR_SECONDS = 3_600;

let folder: string;
let clock: Clock;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-clocks-'));
  clock = await Clock.create(folder);
}, STACK_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let deployed: Deployed;
deployForEachTest((one) => (deployed = one));

test('by a clock an hour ahead of Temporal, `deploy status` shows a polled build as polled', async () => {
  await deployed.worker('a');
  await deployed.makeCurrent('a');
  clock.jump(HOUR_SECONDS);
  const environment = { ...deployed.environment, ...clock.environment };
  const status = await run(deployed.stack, ['deploy', 'status', '--json'], { environment });
  expect(documents(status)).toMatchObject([
    { current: 'a', problems: [], versions: [{ buildId: 'a', isPolled: true }] },
  ]);
});
