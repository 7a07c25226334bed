import { sleep } from '@temporalio/workflow';
import { partial } from 'longhaul/workflow';

export async function times_out() {
  partial({ done: ['first part'] });
  await sleep('1h');
}
