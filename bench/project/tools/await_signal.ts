import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'await_signal',
  description: { does: 'Waits for a signal and ends.' },
  input: z.object({}),
  wait: true,
  timeoutSeconds: 3600,
  estimate: { seconds: 60 },
});
