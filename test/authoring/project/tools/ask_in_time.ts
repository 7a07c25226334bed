import { z } from 'zod';
import { defineTool } from 'longhaul';

export const approval = z.object({ approve: z.boolean(), by: z.string().default('somebody') });

export default defineTool({
  name: 'ask_in_time',
  description: { does: 'Asks for an approval, but not for ever.' },
  input: z.object({ timeoutSeconds: z.number(), otherwise: z.boolean().optional() }),
  estimate: { seconds: 1 },
  questions: { approval },
});
