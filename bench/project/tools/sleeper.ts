import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'sleeper',
  description: { does: 'Sleeps for an hour.' },
  input: z.object({}),
  estimate: { seconds: 1 },
});
