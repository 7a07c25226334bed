import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'ends_badly',
  description: { does: 'Fails, or takes too long.' },
  input: z.object({ how: z.enum(['fails', 'is_late']) }),
  deadlineSeconds: 1,
  estimate: { seconds: 1 },
});
