import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'half_second',
  description: { does: 'Takes half a second, in one activity.' },
  input: z.object({}),
  estimate: { seconds: 1 },
});
