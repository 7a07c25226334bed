import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'ticker',
  description: { does: 'Changes its state at each signal, and ends at a signal.' },
  input: z.object({}),
  timeoutSeconds: 3600,
  estimate: { seconds: 60 },
});
