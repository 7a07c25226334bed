import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'chatter',
  description: { does: 'Writes numbered lines to its log until a file exists.' },
  input: z.object({ file: z.string() }),
  output: z.object({ lines: z.number() }),
  estimate: { seconds: 60 },
});
