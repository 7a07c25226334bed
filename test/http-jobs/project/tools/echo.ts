import { z } from 'zod';
import { defineTool } from 'longhaul';

const text = z.string().max(1000);

export default defineTool({
  name: 'echo',
  description: { does: 'Gives back what it gets.', returns: 'the text.' },
  input: z.strictObject({ text, times: z.int().min(1).max(10).default(1) }),
  output: z.object({ texts: z.array(text) }),
  wait: true,
  deadlineSeconds: 60,
  estimate: { seconds: 1 },
  cleanup: 'nothing is left behind.',
});
