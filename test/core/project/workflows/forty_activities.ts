import { proxyActivities } from '@temporalio/workflow';
import { partial } from 'longhaul/workflow';
import type * as activities from '../activities/counted.js';

const { count } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function forty_activities() {
  for (let done = 1; done <= 40; done += 1) {
    await count(1);
    partial({ done, rows: 'x'.repeat(60 * 1024) });
  }
  return { activities: 40 };
}
