import { z } from 'zod';
import { defineTool } from 'longhaul';

export const question = z.object({ code: z.string().regex(/^(a+)+$/), site: z.hostname().optional() });

export default defineTool({
  name: 'ask_code',
  description: { does: 'Asks for a code.' },
  input: z.object({}),
  estimate: { seconds: 1 },
  questions: { question },
});
