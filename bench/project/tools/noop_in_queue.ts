import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'noop_in_queue',
  description: { does: 'Nothing, in one activity, as one of 32 at once.' },
  input: z.object({}),
  estimate: { seconds: 1 },
  queue: { concurrency: 32 },
});
