import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'refused',
  description: { does: 'Fails.' },
  input: z.object({}),
  wait: true,
  estimate: { seconds: 1 },
});
