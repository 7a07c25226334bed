import { defineTool } from 'longhaul';

export default defineTool({
  name: 'held',
  description: {
    does: 'Leaves a large partial result and runs until it is cancelled, one operation at a time.',
  },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 3600 },
  queue: { concurrency: 1 },
});
