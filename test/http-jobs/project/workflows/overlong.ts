import { sleep } from '@temporalio/workflow';
import { partial } from 'longhaul/workflow';

export async function overlong() {
  partial({ done: ['first part'] });
  await sleep('1h');
}
