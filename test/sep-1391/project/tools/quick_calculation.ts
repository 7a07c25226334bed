import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Sync only. */
export default defineTool({
  name: 'quick_calculation',
  description: { does: 'Performs fast mathematical calculations.' },
  input: z.object({ x: z.number(), y: z.number() }),
  output: z.object({ sum: z.number() }),
  taskSupport: 'forbidden',
  estimate: { seconds: 0.1 },
});
