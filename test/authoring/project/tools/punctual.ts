import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'punctual',
  description: { does: 'Continues as new in the moment in which its time is up.' },
  input: z.object({ turn: z.number().default(1) }),
  deadlineSeconds: 1,
  estimate: { seconds: 1 },
});
