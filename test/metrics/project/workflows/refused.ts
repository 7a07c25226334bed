import { ApplicationFailure } from '@temporalio/workflow';

export async function refused() {
  throw ApplicationFailure.nonRetryable('refused');
}
