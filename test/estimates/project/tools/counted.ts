import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Takes as long as there are items. */
export default defineTool({
  name: 'counted',
  description: { does: 'Takes its time for each item.' },
  input: z.object({
    items: z.array(z.string()),
    ask: z.boolean().default(false),
    deep: z.boolean().default(false),
  }),
  estimate: {
    seconds: 100,
    per: { argument: 'items', seconds: 7 },
    variants: [{ when: { deep: true }, seconds: 1000, per: { argument: 'items', seconds: 1 } }],
  },
});
