import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

/** The least that an update-with-start can reach: for comparison with what an agent's registration costs. */
export async function updatable() {
  setHandler(defineUpdate<number, [number]>('echo'), (value) => value);
  await condition(() => false);
}
