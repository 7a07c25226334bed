import { stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import { awaitCheck } from '../lib/await-check.js';
import type tool from '../tools/follow_check.js';

export async function follow_check({ arn }: ToolInput<typeof tool>): Promise<ToolOutput<typeof tool>> {
  stage('background check');
  const { finding } = await awaitCheck(arn);
  return { clear: finding === undefined, finding };
}
