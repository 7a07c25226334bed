import { sleep } from '@temporalio/workflow';

export async function sleeper() {
  await sleep('1h');
}
