import { continueAsNew, sleep } from '@temporalio/workflow';
import { stage } from 'longhaul/workflow';

interface Rounds {
  rounds: number;
  pauseMs: number;
}

/** Each round is a run of its own. */
export async function rounds({ rounds, pauseMs }: Rounds): Promise<{ done: true }> {
  stage(`${rounds} to go`);
  await sleep(pauseMs);
  if (rounds > 1) await continueAsNew<typeof import('./rounds.js').rounds>({ rounds: rounds - 1, pauseMs });
  return { done: true };
}
