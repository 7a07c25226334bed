import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'noop',
  description: { does: 'Nothing, in a workflow without activities.' },
  input: z.object({}),
  estimate: { seconds: 1 },
});
