/** Workflows of tools, reduced to what a deployment sees: they wait for a signal. */
import { condition, defineSignal, setHandler } from '@temporalio/workflow';

const finish = defineSignal('finish');
const poke = defineSignal('poke');

async function hold() {
  let isFinished = false;
  setHandler(poke, () => undefined);
  setHandler(finish, () => {
    isFinished = true;
  });
  await condition(() => isFinished);
  return {};
}

export { hold as slow_compute };
