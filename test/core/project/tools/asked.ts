import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Used by the workflow too: zod is evaluated in the sandbox. */
export const approval = z.object({ approve: z.boolean(), note: z.string().default('none') });

export default defineTool({
  name: 'asked',
  description: { does: 'Asks a question.' },
  input: z.object({}),
  estimate: { seconds: 1 },
  questions: { approval },
});
