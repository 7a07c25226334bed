import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'cleaned',
  description: { does: 'Works for an hour, and has cleanups, one of which takes an hour too.' },
  input: z.object({}),
  deadlineSeconds: 600,
  cleanupSeconds: 12,
  estimate: { seconds: 1 },
  questions: {},
});
