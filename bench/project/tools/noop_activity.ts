import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'noop_activity',
  description: { does: 'Nothing, in one activity.' },
  input: z.object({}),
  estimate: { seconds: 1 },
});
