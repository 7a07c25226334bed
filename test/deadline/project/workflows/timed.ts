import { continueAsNew, executeChild, sleep } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';
import type { ToolInput } from 'longhaul';
import type tool from '../tools/timed.js';
import { confirm } from '../tools/timed.js';

type Input = ToolInput<typeof tool>;

export async function timed(input: Input): Promise<object> {
  const { asks, continuesAfterMs, inChild, fails } = input;
  if (fails) throw new Error('each task fails');
  if (asks) await requestInput(confirm, 'Work for an hour?');
  if (continuesAfterMs > 0) {
    await sleep(continuesAfterMs);
    await continueAsNew<typeof timed>({ ...input, asks: false, continuesAfterMs: 0 });
  }
  if (inChild) await executeChild(timed_part);
  await sleep('1h');
  return {};
}

export async function timed_part(): Promise<void> {
  await sleep('1h');
}
