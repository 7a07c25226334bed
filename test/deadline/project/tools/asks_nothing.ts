import { z } from 'zod';
import { defineTool } from 'longhaul';
import { timed } from './timed.js';

export default defineTool({
  ...timed,
  name: 'asks_nothing',
  description: { does: 'Works for an hour, and declares that it asks nothing.' },
  input: z.object({
    /** Each task fails. */
    fails: z.boolean().default(false),
    /** Asks nevertheless. */
    asks: z.boolean().default(false),
  }),
  questions: {},
});
