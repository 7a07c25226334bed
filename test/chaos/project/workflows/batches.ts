import { ApplicationFailure, continueAsNew, proxyActivities } from '@temporalio/workflow';
import { progress, requestInput, stage } from 'longhaul/workflow';
import type * as activities from '../activities/batches.js';

interface Input {
  ledger: string;
  name: string;
  batches: number;
  secondsEach: number;
  ends: 'completed' | 'failed' | 'asks';
  /** Number of the first batch of this run. */
  first?: number;
}

const { runBatch } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '200ms', maximumInterval: '1s' },
});

/** Each batch has a run of its own. */
export async function batches(input: Input) {
  const { ledger, name, batches: count, secondsEach, ends, first: batch = 1 } = input;
  progress({ total: count * 10 });
  stage(`batch ${batch}`);
  await runBatch(ledger, name, batch, secondsEach);
  if (batch < count) await continueAsNew<typeof batches>({ ...input, first: batch + 1 });
  if (ends === 'failed') throw ApplicationFailure.nonRetryable('it was to fail', 'ToFail');
  if (ends !== 'asks') return { done: count };
  const given = await requestInput(
    { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] },
    'How many?',
  );
  if (given.action === 'decline') throw ApplicationFailure.nonRetryable('nobody knows', 'Declined');
  return { done: count, answer: given.content['answer'] };
}
