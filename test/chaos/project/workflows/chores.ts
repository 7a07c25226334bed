import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import { progress, requestInput, stage } from 'longhaul/workflow';
import type * as activities from '../activities/chores.js';

interface Input {
  ledger: string;
  name: string;
  chores: number;
  secondsEach: number;
  ends: 'completed' | 'failed' | 'asks';
}

const { doChore } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '200ms', maximumInterval: '1s' },
});

export async function chores({ ledger, name, chores: count, secondsEach, ends }: Input) {
  progress({ total: count * 10 });
  for (let chore = 1; chore <= count; chore += 1) {
    stage(`part ${chore}`);
    await doChore(ledger, name, chore, secondsEach);
  }
  if (ends === 'failed') throw ApplicationFailure.nonRetryable('it was to fail', 'ToFail');
  if (ends === 'asks')
    await requestInput({ type: 'object', properties: { ok: { type: 'boolean' } } }, 'Is it done?');
  return { done: count };
}
