import { z } from 'zod';
import { defineTool } from 'longhaul';

export const opinion = z.object({ likes_it: z.boolean() });

/** Asks for two arguments before it starts, and for an opinion while it runs. */
export default defineTool({
  name: 'interview',
  description: { does: 'Interviews somebody.' },
  input: z.object({ name: z.string(), town: z.string() }),
  output: z.object({ said: z.string() }),
  askFor: { name: 'What is your name?', town: 'Where do you live?' },
  wait: true,
  estimate: { seconds: 1 },
  questions: { opinion },
});
