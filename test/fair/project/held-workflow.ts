import { proxyActivities } from '@temporalio/workflow';
import type * as activities from './activities/hold.js';

const { hold } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  retry: { maximumAttempts: 3 },
});

/** Runs until the test lets it go. */
export async function held({ folder, name }: { folder: string; name: string }) {
  return { name: await hold(folder, name) };
}
