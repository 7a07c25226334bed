import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'nap',
  description: { does: 'Sleeps.' },
  input: z.object({ seconds: z.number().default(600) }),
  output: z.object({ slept: z.number() }),
  estimate: { seconds: 600 },
});
