import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'held',
  description: { does: 'Works until it is canceled.' },
  input: z.object({}),
  estimate: { seconds: 60 },
});
