import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/half_second.js';

const { takeHalfASecond } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function half_second() {
  return takeHalfASecond();
}
