import { executeChild, workflowInfo } from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';
import { approval } from '../tools/ask_in_time.js';

export async function ask_in_part() {
  const { workflowId } = workflowInfo();
  return executeChild(ask_in_part_child, { workflowId: `${workflowId}.north` });
}

export async function ask_in_part_child() {
  const first = await requestInput(approval, 'Approve?', {
    timeoutSeconds: 1,
    default: { approve: false, by: 'nobody' },
  });
  const second = await requestInput(approval, 'And now?');
  return { first, second };
}
