import { continueAsNew, executeChild, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type * as activities from '../activities/family.js';

interface Input {
  text: string;
  isSecondRun: boolean;
}

const { leaveFile } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function family(input: Input): Promise<{ text: string }> {
  await leaveFile('family.txt');
  if (!input.isSecondRun) await continueAsNew<typeof family>({ ...input, isSecondRun: true });
  const workflowId = `${workflowInfo().workflowId}.child`;
  return { text: await executeChild(family_child, { workflowId, args: [input.text] }) };
}

/** Gives the text back, from a child workflow's own history. */
export async function family_child(text: string): Promise<string> {
  return text;
}
