import { proxyActivities } from '@temporalio/workflow';
import { stage } from 'longhaul/workflow';
import type * as activities from '../activities/wksm_monitor_sync.js';

const { syncFiles } = proxyActivities<typeof activities>({ startToCloseTimeout: '10m' });

export async function wksm_monitor_sync(input: { path: string; recursive: boolean }) {
  stage('sync');
  return syncFiles(input.path, input.recursive);
}
