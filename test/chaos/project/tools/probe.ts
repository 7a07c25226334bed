import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Ends as soon as a worker takes it. */
export default defineTool({
  name: 'probe',
  description: { does: 'Nothing.' },
  input: z.object({}),
  estimate: { seconds: 1 },
});
