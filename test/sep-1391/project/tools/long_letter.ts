import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Its result is so large that Temporal doesn't hold it itself. */
export default defineTool({
  name: 'long_letter',
  description: { does: 'Writes a long letter.' },
  input: z.object({ letter: z.string(), copies: z.number().int().min(1) }),
  output: z.object({ text: z.string() }),
  estimate: { seconds: 1 },
});
