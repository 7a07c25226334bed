import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'episodes',
  description: { does: 'Writes lines, asks, and continues as new, a number of times.' },
  input: z.object({ runs: z.number(), run: z.number().default(1) }),
  output: z.object({ runs: z.number() }),
  estimate: { seconds: 1 },
});
