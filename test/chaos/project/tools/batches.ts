import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Work in several activities that report progress, with what users do to it: answer, cancel, let it fail. */
export default defineTool({
  name: 'batches',
  description: { does: 'Runs batches of work one after the other.' },
  input: z.object({
    ledger: z.string().describe('File that each batch appends a line to as it starts and as it ends.'),
    name: z.string(),
    batches: z.number().int().min(1),
    secondsEach: z.number(),
    ends: z.enum(['completed', 'failed', 'asks']).default('completed'),
  }),
  output: z.object({ done: z.number(), answer: z.number().optional() }),
  deadlineSeconds: 3600,
  estimate: { seconds: 1, per: { argument: 'batches', seconds: 2 } },
});
