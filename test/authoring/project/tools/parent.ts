import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'parent',
  description: { does: 'Starts a child workflow and ends before it.' },
  input: z.object({ waits: z.boolean() }),
  output: z.object({ child: z.string() }),
  estimate: { seconds: 1 },
});
