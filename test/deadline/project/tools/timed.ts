import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Tools with a maximum of 10 s and a budget of 4 s for their end. */
export const timed = { deadlineSeconds: 10, cleanupSeconds: 4, estimate: { seconds: 1 } };

/** Answer to each question. */
export const confirm = z.object({ sure: z.boolean().describe('Sure?') });

/** May ask: it doesn't declare its questions. */
export default defineTool({
  ...timed,
  name: 'timed',
  description: { does: 'Works for an hour.' },
  input: z.object({
    /** Asks first. */
    asks: z.boolean().default(false),
    /** Continues as new after that many milliseconds, once. */
    continuesAfterMs: z.number().default(0),
    /** Works in a child workflow. */
    inChild: z.boolean().default(false),
    /** Each task fails. */
    fails: z.boolean().default(false),
  }),
});
