import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'overlong',
  description: { does: 'Finishes one part, and has no time for the other.' },
  input: z.strictObject({}),
  deadlineSeconds: 1,
  estimate: { seconds: 1 },
  cleanup: 'the first part stays.',
});
