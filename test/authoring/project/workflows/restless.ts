import { continueAsNew, sleep } from '@temporalio/workflow';

export async function restless(input: { turn: number }): Promise<{ turns: number }> {
  await sleep(500);
  if (input.turn < 12) await continueAsNew<typeof restless>({ turn: input.turn + 1 });
  return { turns: input.turn };
}
