import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'told',
  description: { does: 'Waits until it is told to end.' },
  input: z.object({}),
  wait: true,
  timeoutSeconds: 600,
  estimate: { seconds: 60 },
});
