import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'asker',
  description: { does: 'Asks a question and ends with its answer.' },
  input: z.object({}),
  timeoutSeconds: 3600,
  estimate: { seconds: 60 },
});
