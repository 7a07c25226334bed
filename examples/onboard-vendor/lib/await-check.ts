/** The activity that polls a background check, for the workflows. */
import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/onboard_vendor.js';

export const { awaitCheck } = proxyActivities<typeof activities>({
  startToCloseTimeout: '6h',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', maximumInterval: '1m' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});
