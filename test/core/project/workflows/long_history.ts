import { proxyActivities, sleep } from '@temporalio/workflow';
import type * as activities from '../activities/blocked_loop.js';

const { text } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function long_history() {
  await Promise.all(Array.from({ length: 2_050 }, () => sleep(1)));
  await Promise.all(Array.from({ length: 22 }, () => text(200_000)));
  for (let time = 0; time < 3; time += 1) await sleep(1);
  return {};
}
