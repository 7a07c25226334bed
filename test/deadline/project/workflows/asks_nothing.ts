import { sleep } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';
import type { ToolInput } from 'longhaul';
import type tool from '../tools/asks_nothing.js';
import { confirm } from '../tools/timed.js';

export async function asks_nothing({ fails, asks }: ToolInput<typeof tool>): Promise<object> {
  if (fails) throw new Error('each task fails');
  if (asks) await requestInput(confirm, 'Sure?');
  await sleep('1h');
  return {};
}
