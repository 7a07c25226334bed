import { requestInput } from 'longhaul/workflow';
import { approval } from '../tools/ask_in_time.js';

export async function ask_in_time(input: { timeoutSeconds: number; otherwise?: boolean }) {
  return requestInput(approval, 'Approve?', {
    timeoutSeconds: input.timeoutSeconds,
    ...(input.otherwise === undefined ? {} : { default: { approve: input.otherwise, by: 'nobody' } }),
  });
}
