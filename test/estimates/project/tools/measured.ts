import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Learns the size of its work only while it runs. */
export default defineTool({
  name: 'measured',
  description: { does: 'Takes as long as what it finds is large.' },
  input: z.object({ place: z.string() }),
  estimate: { seconds: 100 },
});
