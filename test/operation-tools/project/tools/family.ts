import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'family',
  description: { does: 'Continues as new, and leaves a file, and has a child workflow with a large value.' },
  input: z.object({ text: z.string(), isSecondRun: z.boolean().default(false) }),
  output: z.object({ text: z.string() }),
  estimate: { seconds: 1 },
});
