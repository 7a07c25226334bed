import { defineTool } from 'longhaul';

export default defineTool({
  name: 'continued',
  description: { does: 'Continues as new, then works.' },
  input: {
    type: 'object',
    properties: { folder: { type: 'string' }, name: { type: 'string' }, round: { type: 'integer' } },
    required: ['folder', 'name'],
  },
  estimate: { seconds: 20 },
  queue: { concurrency: 1 },
});
