/** Input fields that several tools share. The mailbox's client checks names, sizes and IDs, which keeps the schemas short. */
import { z } from 'zod';
import { LonghaulError } from '../../operations/errors.js';

const LONGEST_WAIT_SECONDS = 3600;
const OPERATIONS_LIMIT = 20;

export const agentId = z.string().max(200);
export const messageId = z.string().max(200);

export const timeoutSeconds = z
  .number()
  .gt(0)
  .max(LONGEST_WAIT_SECONDS)
  .optional()
  .describe('Default: by client, up to 60');

/** Described only in register_and_wait, which the other waits refer to. */
export const also = z.array(z.string().min(1).max(1000)).max(OPERATIONS_LIMIT).optional();
export const leaseSeconds = z.number().optional();

/** `invalid_arguments`: the call needs an argument that its schema leaves optional. */
export function missingArgument(argument: string, expected: string): LonghaulError {
  return new LonghaulError('invalid_arguments', `${argument}: expected ${expected}; got nothing`);
}
