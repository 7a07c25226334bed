import { z } from 'zod';
import { defineTool } from 'longhaul';

export const proceed = z.object({ proceed: z.boolean() });

/** Process and number of the attempt that did an activity. */
const attempt = z.object({ pid: z.number(), attempt: z.number() });

export default defineTool({
  name: 'hold',
  description: {
    does: 'Holds one activity until a file exists; asks meanwhile, and runs another activity after the answer.',
  },
  input: z.object({ folder: z.string() }),
  output: z.object({ held: attempt, noted: attempt }),
  estimate: { seconds: 600 },
  questions: { proceed },
});
