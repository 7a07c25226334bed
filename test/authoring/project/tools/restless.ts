import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'restless',
  description: { does: 'Continues as new every half second, for longer than it may.' },
  input: z.object({ turn: z.number().default(1) }),
  deadlineSeconds: 2,
  estimate: { seconds: 1 },
});
