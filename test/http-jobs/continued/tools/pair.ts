import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'pair',
  description: { does: 'Asks in one child workflow, then in another.' },
  input: z.object({}),
  estimate: { seconds: 1 },
});
