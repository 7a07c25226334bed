import { ApplicationFailure, proxyActivities, sleep } from '@temporalio/workflow';
import { cleanup, partial, stage } from 'longhaul/workflow';
import type * as activities from '../activities/tidy.js';

const { note } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function tidy(input: { ledger: string; fails?: boolean }) {
  cleanup(async (reason) => note(input.ledger, `first ${reason}`));
  cleanup(async () => {
    throw ApplicationFailure.nonRetryable('this one goes wrong');
  });
  cleanup(async (reason) => note(input.ledger, `last ${reason}`));
  stage('wait');
  partial({ done: ['a'] });
  if (input.fails) throw ApplicationFailure.nonRetryable('the disk is full', 'DiskFull');
  await sleep('1h');
}

export const tidy_late = tidy;
