import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'release',
  description: {
    does: 'Asks for an approval by role and by four eyes, in a child workflow of a child workflow if wanted.',
  },
  input: z.object({
    depth: z.number().default(0),
    approvers: z.array(z.string()).optional(),
    fourEyes: z.boolean().default(true),
  }),
  output: z.object({ action: z.string() }),
  estimate: { seconds: 1 },
});
