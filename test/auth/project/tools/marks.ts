import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'marks',
  description: {
    does: 'Continues as new, writes a marker by itself and by a child workflow that outlives it.',
  },
  input: z.object({ path: z.string(), round: z.number().default(1) }),
  estimate: { seconds: 1 },
});
