import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'rounds',
  description: { does: 'Continues as new again and again.' },
  input: z.object({ rounds: z.number(), pauseMs: z.number() }),
  estimate: { seconds: 1 },
});
