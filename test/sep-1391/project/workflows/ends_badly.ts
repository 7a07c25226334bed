import { ApplicationFailure, sleep } from '@temporalio/workflow';
import { partial } from 'longhaul/workflow';

export async function ends_badly({ how }: { how: 'fails' | 'is_late' }) {
  partial({ done: ['first part'] });
  if (how === 'fails') throw ApplicationFailure.nonRetryable('the second part went wrong', 'Broken');
  await sleep('1h');
}
