import { defineTool } from 'longhaul';

export default defineTool({
  name: 'pair',
  description: { does: 'Runs two at once.' },
  input: {
    type: 'object',
    properties: { folder: { type: 'string' }, name: { type: 'string' } },
    required: ['folder', 'name'],
  },
  estimate: { seconds: 20 },
  questions: {},
  queue: { concurrency: 2 },
});
