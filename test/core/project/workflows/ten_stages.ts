import { proxyActivities } from '@temporalio/workflow';
import { stage } from 'longhaul/workflow';
import type * as activities from '../activities/counted.js';

const { count } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function ten_stages() {
  for (let at = 1; at <= 10; at += 1) {
    stage(`stage ${at}`);
    await count(1);
  }
  return { stages: 10 };
}
