import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/measured.js';

const { reportTwice } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function measured() {
  return reportTwice();
}
