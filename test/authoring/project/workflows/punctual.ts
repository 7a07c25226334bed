import { continueAsNew, sleep } from '@temporalio/workflow';

/** Continues as new in the moment in which its time is up. */
export async function punctual(input: { turn: number }): Promise<never> {
  await sleep(1_000);
  return continueAsNew<typeof punctual>({ turn: input.turn + 1 });
}
