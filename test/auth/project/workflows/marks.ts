import { continueAsNew, executeChild, ParentClosePolicy, proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/mark.js';

const { mark } = proxyActivities<typeof activities>({
  startToCloseTimeout: '1m',
  retry: { maximumAttempts: 1 },
});

export async function marks({ path, round }: { path: string; round: number }): Promise<void> {
  await mark(path, `round ${round}`);
  if (round === 1) await continueAsNew<typeof marks>({ path, round: 2 });
  await executeChild(part, { args: [path, 'part'] });
  await executeChild(part, { args: [path, 'outlives'], parentClosePolicy: ParentClosePolicy.ABANDON });
}

export async function part(path: string, text: string): Promise<void> {
  await mark(path, text);
}

/** A workflow that is no operation, and starts any other as its child. */
export async function forger(type: string, args: unknown[], memo: Record<string, unknown>): Promise<void> {
  await executeChild(type, { args, memo, workflowRunTimeout: '30s' });
}
