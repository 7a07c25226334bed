import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

/** Minimal workflow for an update-with-start, as a baseline for the registration of agents. */
export async function updatable() {
  setHandler(defineUpdate<number, [number]>('echo'), (value) => value);
  await condition(() => false);
}
