import { sleep } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';

/** Durable time, so that a run takes what its size says, whatever else the machine does. */
export async function counted(input: { items: string[]; ask: boolean }) {
  if (input.ask)
    await requestInput({ type: 'object', properties: { ok: { type: 'boolean' } } }, 'Shall it continue?');
  await sleep(input.items.length * 500);
  return {};
}
