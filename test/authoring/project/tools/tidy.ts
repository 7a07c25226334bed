import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'tidy',
  description: { does: 'Leaves things behind that have to be cleaned up.' },
  input: z.object({ ledger: z.string(), fails: z.boolean().default(false) }),
  estimate: { seconds: 1 },
  cleanup: 'a line is written for each thing.',
});
