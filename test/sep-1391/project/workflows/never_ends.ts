import { ApplicationFailure } from '@temporalio/workflow';

export async function never_ends() {
  throw ApplicationFailure.nonRetryable('something went wrong', 'Broken');
}
