import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/hold.js';

const { hold } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  retry: { maximumAttempts: 3 },
});

export async function capped({ folder, name }: { folder: string; name: string }) {
  return { name: await hold(folder, name) };
}
