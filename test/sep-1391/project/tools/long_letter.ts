import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Has a result that is too large to be stored in Temporal. */
export default defineTool({
  name: 'long_letter',
  description: { does: 'Writes a long letter.' },
  input: z.object({ letter: z.string(), copies: z.number().int().min(1) }),
  output: z.object({ text: z.string() }),
  estimate: { seconds: 1 },
});
