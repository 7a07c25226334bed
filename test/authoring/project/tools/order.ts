import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'order',
  description: { does: 'Gives back what it got.' },
  input: z.strictObject({
    size: z.enum(['small', 'large']),
    lines: z.array(z.strictObject({ item: z.string().min(2), count: z.number().int().min(1).default(1) })),
    express: z.boolean().default(false),
  }),
  wait: true,
  estimate: { seconds: 1 },
});
