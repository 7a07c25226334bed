import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'short_nap',
  description: { does: 'Sleeps, and every call waits for the end.' },
  input: z.object({ seconds: z.number().default(600) }),
  output: z.object({ slept: z.number() }),
  taskSupport: 'forbidden',
  wait: true,
  timeoutSeconds: 600,
  estimate: { seconds: 600 },
});
