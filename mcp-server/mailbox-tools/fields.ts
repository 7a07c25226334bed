/** What several of these tools take. The engine checks names, sizes and IDs; schemas stay short. */
import { z } from 'zod';

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

export const leaseSeconds = z
  .number()
  .optional()
  .describe('Until a message you have comes again. Default: 900');

export const also = z
  .array(z.string().min(1).max(1000))
  .max(MOST_OPERATIONS)
  .optional()
  .describe('Tokens of operations whose end also ends the wait');
