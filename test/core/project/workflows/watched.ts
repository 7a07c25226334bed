import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/watched.js';

const { watchForever } = proxyActivities<typeof activities>({ startToCloseTimeout: '2h' });

export async function watched() {
  await watchForever();
}
