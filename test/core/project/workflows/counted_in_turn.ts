import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/counted.js';

const { count } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function counted_in_turn() {
  return { counted: await count(3) };
}
