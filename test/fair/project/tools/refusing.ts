import { defineTool } from 'longhaul';

export default defineTool({
  name: 'refusing',
  description: { does: 'Runs one, and lets none wait.' },
  input: {
    type: 'object',
    properties: { folder: { type: 'string' }, name: { type: 'string' } },
    required: ['folder', 'name'],
  },
  estimate: { seconds: 20 },
  questions: {},
  queue: { concurrency: 1, maxWaiting: 0 },
});
