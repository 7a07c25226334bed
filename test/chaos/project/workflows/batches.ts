import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import { progress, requestInput, stage } from 'longhaul/workflow';
import type * as activities from '../activities/batches.js';

interface Input {
  ledger: string;
  name: string;
  batches: number;
  secondsEach: number;
  ends: 'completed' | 'failed' | 'asks';
}

const { runBatch } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '200ms', maximumInterval: '1s' },
});

export async function batches({ ledger, name, batches: count, secondsEach, ends }: Input) {
  progress({ total: count * 10 });
  for (let batch = 1; batch <= count; batch += 1) {
    stage(`batch ${batch}`);
    await runBatch(ledger, name, batch, secondsEach);
  }
  if (ends === 'failed') throw ApplicationFailure.nonRetryable('it was to fail', 'ToFail');
  if (ends !== 'asks') return { done: count };
  const given = await requestInput(
    { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] },
    'How many?',
  );
  if (given.action === 'decline') throw ApplicationFailure.nonRetryable('nobody knows', 'Declined');
  return { done: count, answer: given.content['answer'] };
}
