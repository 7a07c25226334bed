import { condition, defineSignal, setHandler } from '@temporalio/workflow';

export async function await_signal() {
  let hasEnded = false;
  setHandler(defineSignal('end'), () => void (hasEnded = true));
  await condition(() => hasEnded);
  return { done: true };
}
