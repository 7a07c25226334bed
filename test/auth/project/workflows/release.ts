import { executeChild, workflowInfo } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';

interface Input {
  depth: number;
  approvers?: string[];
  fourEyes: boolean;
}

const ANSWER = {
  type: 'object',
  properties: { ok: { type: 'boolean' }, note: { type: 'string', default: 'none' } },
  required: ['ok'],
};

/** An approval, by a part as many levels down as its depth. */
export async function release({ depth, ...rules }: Input): Promise<{ action: string }> {
  if (depth > 0) {
    const workflowId = `${workflowInfo().workflowId}.part`;
    return executeChild(release, { workflowId, args: [{ depth: depth - 1, ...rules }] });
  }
  const { action } = await requestInput(ANSWER, 'Release?', rules);
  return { action };
}
