import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'mistaken',
  description: { does: 'Makes a mistake of its author.' },
  input: z.object({ mistake: z.string() }),
  estimate: { seconds: 1 },
});
