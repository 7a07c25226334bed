import { z } from 'zod';
import { defineTool } from 'longhaul';

const node = z.object({
  name: z.string(),
  get children() {
    return z.array(node);
  },
});

export default defineTool({
  name: 'tree',
  description: { does: 'Gives back a tree.' },
  input: z.object({ root: node }),
  output: z.object({ root: node }),
  estimate: { seconds: 1 },
  deadlineSeconds: 60,
  retryableErrors: [],
  cleanup: 'nothing is left.',
  example: { input: { root: { name: 'a', children: [] } } },
});
