import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'updatable',
  description: { does: 'Waits for updates.' },
  input: z.object({}),
  timeoutSeconds: 600,
  estimate: { seconds: 60 },
});
