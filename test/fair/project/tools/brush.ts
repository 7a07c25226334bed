import { defineTool } from 'longhaul';

export default defineTool({
  name: 'brush',
  description: { does: 'Shares the queue easel.' },
  input: {
    type: 'object',
    properties: { folder: { type: 'string' }, name: { type: 'string' } },
    required: ['folder', 'name'],
  },
  estimate: { seconds: 20 },
  questions: {},
  queue: { name: 'easel', concurrency: 1 },
});
