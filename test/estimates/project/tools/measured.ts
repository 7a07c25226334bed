import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Knows how large its work is only once it works. */
export default defineTool({
  name: 'measured',
  description: { does: 'Takes as long as what it finds is large.' },
  input: z.object({ place: z.string() }),
  estimate: { seconds: 100 },
});
