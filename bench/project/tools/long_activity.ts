import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'long_activity',
  description: { does: 'Waits for an hour, in one activity.' },
  input: z.object({}),
  timeoutSeconds: 7200,
  estimate: { seconds: 3600 },
});
