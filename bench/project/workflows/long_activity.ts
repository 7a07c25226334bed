import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/long_activity.js';

const { waitAnHour } = proxyActivities<typeof activities>({ startToCloseTimeout: '2h' });

export async function long_activity() {
  await waitAnHour();
  return { done: true };
}
