import { sleep } from '@temporalio/workflow';
import { progress, stage } from 'longhaul/workflow';

export async function nap({ seconds }: { seconds: number }) {
  progress({ progress: 1, total: 2 });
  stage('asleep');
  await sleep(seconds * 1000);
  return { slept: seconds };
}
