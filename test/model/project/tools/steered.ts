import { z } from 'zod';
import { defineTool } from 'longhaul';

export const answer = z.object({ value: z.number().int() });

/** Work that a test steers by its arguments and its answers. */
export default defineTool({
  name: 'steered',
  description: { does: 'Does some units of work, asks questions, and returns the answers.' },
  input: z.object({
    units: z.number().int().min(0).describe('Reports of progress by an activity, before the questions.'),
    questions: z.number().int().min(0),
    areAtOnce: z.boolean().describe('Whether all questions are open at the same time.'),
    ends: z.enum(['completed', 'failed']),
    cleanupMs: z.number().int().min(0),
  }),
  output: z.object({ answers: z.array(z.union([z.number(), z.literal('declined')])) }),
  estimate: { seconds: 1 },
  questions: { answer },
});
