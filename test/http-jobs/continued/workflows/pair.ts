import { executeChild, workflowInfo } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';

export async function pair(): Promise<void> {
  for (const side of ['left', 'right'])
    await executeChild(pair_side, { workflowId: `${workflowInfo().workflowId}/${side}` });
}

export async function pair_side(): Promise<void> {
  await requestInput({ type: 'object', properties: { go: { type: 'boolean' } } }, 'Continue?');
}
