import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/chatter.js';

const { writeLines } = proxyActivities<typeof activities>({ startToCloseTimeout: '1h' });

export async function chatter({ file }: { file: string }) {
  return { lines: await writeLines(file) };
}
