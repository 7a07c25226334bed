import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type * as activities from '../activities/side_by_side.js';

const remote = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });
const local = proxyLocalActivities<typeof activities>({ startToCloseTimeout: '1m' });

/** The largest numbers that ran at once on the worker. */
export async function side_by_side() {
  const four = [1, 2, 3, 4];
  const [ofRemote, ofLocal] = await Promise.all([
    Promise.all(four.map(() => remote.takeSlot('activities'))),
    Promise.all(four.map(() => local.takeSlot('localActivities'))),
  ]);
  return { activities: Math.max(...ofRemote), localActivities: Math.max(...ofLocal) };
}
