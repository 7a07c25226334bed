import { sleep } from '@temporalio/workflow';

export async function too_long() {
  await sleep('1h');
  return {};
}
