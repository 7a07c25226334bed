import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'measured',
  description: { does: 'Works in an activity that reports progress, as one of two at once.' },
  input: z.object({}),
  wait: true,
  estimate: { seconds: 1 },
  queue: { concurrency: 2 },
});
