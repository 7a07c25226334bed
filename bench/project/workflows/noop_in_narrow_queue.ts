import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/noop_activity.js';

const { doNothing } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function noop_in_narrow_queue() {
  return doNothing();
}
