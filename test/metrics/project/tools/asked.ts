import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'asked',
  description: { does: 'Waits for an answer.' },
  input: z.object({}),
  estimate: { seconds: 60 },
});
