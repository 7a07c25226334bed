import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'give',
  description: { does: 'Returns a value of the kind that is asked for, wherever that is.' },
  input: z.object({
    kind: z.string(),
    from: z.enum(['workflow', 'activity', 'argument', 'partial', 'child']),
  }),
  estimate: { seconds: 1 },
});
