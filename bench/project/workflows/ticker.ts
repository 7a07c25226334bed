import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { progress, stage } from 'longhaul/workflow';

/** The text of a signal is its new stage and, for `end`, its result. */
export async function ticker() {
  let ticks = 0;
  let last: string | undefined;
  setHandler(defineSignal<[string]>('tick'), (text) => {
    ticks += 1;
    progress({ progress: ticks, total: 1_000_000, message: text });
    stage(text);
  });
  setHandler(defineSignal<[string]>('end'), (text) => void (last = text));
  await condition(() => last !== undefined);
  return { last };
}
