import { continueAsNew, proxyActivities, sleep } from '@temporalio/workflow';
import type * as activities from '../activities/hold.js';

const { hold } = proxyActivities<typeof activities>({ startToCloseTimeout: '10m' });

export async function continued(input: { folder: string; name: string; round?: number }) {
  const { folder, name, round = 1 } = input;
  if (round < 3) {
    await sleep(1_200);
    await continueAsNew<typeof continued>({ folder, name, round: round + 1 });
  }
  return { name: await hold(folder, name) };
}
