import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'tidy_late',
  description: { does: 'The same, with too little time.' },
  input: z.object({ ledger: z.string() }),
  deadlineSeconds: 2,
  estimate: { seconds: 1 },
});
