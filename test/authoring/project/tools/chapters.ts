import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'chapters',
  description: { does: 'Continues as new in the middle, as work with a long history does.' },
  input: z.object({ chapter: z.number().default(1) }),
  estimate: { seconds: 1 },
});
