import { sleep, startChild } from '@temporalio/workflow';
import { stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type tool from '../tools/parent.js';

export async function parent(input: ToolInput<typeof tool>): Promise<ToolOutput<typeof tool>> {
  const child = await startChild(parent_child);
  stage(child.workflowId);
  if (input.waits) await child.result();
  return { child: child.workflowId };
}

/** A part of the operation, not an operation of its own. */
export async function parent_child(): Promise<void> {
  await sleep('1h');
}
