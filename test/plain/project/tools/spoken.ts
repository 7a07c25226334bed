import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Returns, or fails with, text that could have come from a file. */
export default defineTool({
  name: 'spoken',
  description: { does: 'Returns its text, or fails with it.' },
  input: z.object({ text: z.string(), fails: z.boolean().default(false) }),
  output: z.object({ text: z.string().max(20) }),
  toText: ({ text }) => text,
  wait: true,
  estimate: { seconds: 1 },
});
