import { z } from 'zod';
import { defineTool } from 'longhaul';
import { confirm, timed } from './timed.js';

export default defineTool({
  ...timed,
  name: 'beside',
  description: { does: 'Works beside a question.' },
  input: z.object({
    work: z.enum(['child', 'activity', 'local activity', 'none']),
    /** Duration of the work, in seconds. */
    seconds: z.number(),
  }),
  questions: { confirm },
});
