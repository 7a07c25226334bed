import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'timed',
  description: { does: 'Takes half a second, in one activity that says when it began.' },
  input: z.object({}),
  estimate: { seconds: 1 },
});
