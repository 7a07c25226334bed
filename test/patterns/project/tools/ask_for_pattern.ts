import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'ask_for_pattern',
  description: { does: 'Asks for a text of a pattern that the caller gives.' },
  input: z.object({ pattern: z.string() }),
  estimate: { seconds: 1 },
});
