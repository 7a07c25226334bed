import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/held.js';

const { hold } = proxyActivities<typeof activities>({ startToCloseTimeout: '10m' });

export async function held() {
  return hold();
}
