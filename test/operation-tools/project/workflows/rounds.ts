import { continueAsNew, sleep } from '@temporalio/workflow';
import { stage } from 'longhaul/workflow';

interface Rounds {
  rounds: number;
  pauseMs: number;
}

/** Each round is a run of its own. */
export async function rounds(input: Rounds): Promise<{ done: true }> {
  stage(`${input.rounds} to go`);
  await sleep(input.pauseMs);
  if (input.rounds > 1) await continueAsNew<typeof rounds>({ ...input, rounds: input.rounds - 1 });
  return { done: true };
}
