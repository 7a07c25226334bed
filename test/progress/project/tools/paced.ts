import { z } from 'zod';
import { defineTool } from 'longhaul';

/** An activity that reports and then waits for a file, and the steps of the workflow after it. */
export default defineTool({
  name: 'paced',
  description: { does: 'Reports progress and waits for a file.' },
  input: z.object({
    gate: z.string().describe('File that ends the first activity; its text is how: done, fail or retry.'),
    progress: z
      .number()
      .describe('Amount of an attempt; a later attempt that begins again has a part of it.'),
    beginsAnew: z
      .boolean()
      .default(false)
      .describe('Whether an attempt ignores the report of the one before.'),
    heartbeatSeconds: z.number().default(60),
    attempts: z.number().int().default(100),
    retrySeconds: z.number().default(0.2).describe('Time until the second attempt.'),
    cleanupSeconds: z.number().default(0).describe('How long its cleanup takes.'),
    continuesOn: z.string().default('').describe('Task queue on which it continues as new at once.'),
    thenWaitSeconds: z.number().default(0).describe('How long the workflow waits after that.'),
  }),
  output: z.object({ ended: z.string() }),
  deadlineSeconds: 3600,
  estimate: { seconds: 5 },
});
