import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/timed.js';

const { takeTimedHalfSecond } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function timed() {
  return takeTimedHalfSecond();
}
