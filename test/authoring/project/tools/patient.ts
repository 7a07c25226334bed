import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'patient',
  description: { does: 'Asks, and then works for a while.' },
  input: z.object({ seconds: z.number() }),
  deadlineSeconds: 3,
  estimate: { seconds: 1 },
});
