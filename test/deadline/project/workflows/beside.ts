import { executeChild, proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';
import type { ToolInput } from 'longhaul';
import type * as activities from '../activities/beside.js';
import type tool from '../tools/beside.js';
import { confirm } from '../tools/timed.js';

const { pass } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });
const local = proxyLocalActivities<typeof activities>({ startToCloseTimeout: '1m' });

type Input = ToolInput<typeof tool>;

export async function beside({ work, seconds }: Input): Promise<object> {
  const [answer] = await Promise.all([requestInput(confirm, 'Sure?'), perform(work, seconds)]);
  return { answer: answer.action };
}

async function perform(work: Input['work'], seconds: number): Promise<void> {
  if (work === 'child') await executeChild(beside_part, { args: [seconds] });
  else if (work === 'activity') await pass(seconds);
  else if (work === 'local activity') await local.pass(seconds);
}

export async function beside_part(seconds: number): Promise<void> {
  await sleep(seconds * 1000);
}
