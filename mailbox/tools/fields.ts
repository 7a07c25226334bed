/** What several of these tools take. The engine checks names, sizes and IDs; schemas stay short. */
import { z } from 'zod';
import { LonghaulError } from '../../operations/errors.js';

/** Longest wait that can be asked for, in seconds. */
const LONGEST_WAIT_SECONDS = 3600;
/** Most operations that one wait looks at. */
const MOST_OPERATIONS = 20;

export const agentId = z.string().max(200);
export const messageId = z.string().max(200);

export const timeoutSeconds = z
  .number()
  .gt(0)
  .max(LONGEST_WAIT_SECONDS)
  .optional()
  .describe('Default: as fits, up to 60');

/** Described once, at register_and_wait, which the other waits refer to. */
export const also = z.array(z.string().min(1).max(1000)).max(MOST_OPERATIONS).optional();
export const leaseSeconds = z.number().optional();

/** `invalid_arguments`: this call needs an argument that its schema leaves optional. */
export function missing(argument: string, expected: string): LonghaulError {
  return new LonghaulError('invalid_arguments', `${argument}: expected ${expected}; got nothing`);
}
