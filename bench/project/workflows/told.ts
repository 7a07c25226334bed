import { condition, defineSignal, setHandler } from '@temporalio/workflow';

export async function told() {
  let isTold = false;
  setHandler(defineSignal('end'), () => void (isTold = true));
  await condition(() => isTold);
  return { told: true };
}
