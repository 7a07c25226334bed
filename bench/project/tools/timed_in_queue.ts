import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'timed_in_queue',
  description: { does: 'Takes half a second, as one of ten at once, eight of one caller.' },
  input: z.object({}),
  estimate: { seconds: 1 },
  queue: { concurrency: 10, perCaller: 8 },
});
