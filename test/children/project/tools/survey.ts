import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Answer to a part's question. */
export const confirm = z.object({ sure: z.boolean().describe('Sure?') });

const part = z.object({
  name: z.string(),
  /** Its activity waits for this file: its content ends it. */
  gate: z.string().optional(),
  asks: z.boolean().optional(),
  /** After this time its question is answered with "not sure"; then it works. */
  asksForSeconds: z.number().optional(),
  /** Starts a part of its own of this name, which does the work. */
  inner: z.string().optional(),
  local: z.boolean().optional(),
});

export default defineTool({
  name: 'survey',
  description: { does: 'Works in child workflows.', returns: 'what each has done.' },
  input: z.object({
    parts: z.array(part),
    keepFailed: z.boolean().default(false),
    /** One after another, instead of all at once. */
    inTurn: z.boolean().default(false),
  }),
  output: z.object({ done: z.array(z.string()) }),
  deadlineSeconds: 3600,
  estimate: { seconds: 5 },
  questions: { confirm },
});
