import { z } from 'zod';
import { defineTool } from 'longhaul';

export const confirm = z.object({ sure: z.boolean(), note: z.string().optional() });

export default defineTool({
  name: 'trip',
  description: { does: 'Takes legs: a local activity, one that fails once, a child workflow, a second run.' },
  input: z.object({
    leg: z.number().int().default(1),
    asks: z.boolean().default(false),
    breaks: z.boolean().default(false),
    luggage: z.string().default(''),
  }),
  output: z.object({ legs: z.number(), luggage: z.string() }),
  questions: { confirm },
  estimate: { seconds: 5 },
});
