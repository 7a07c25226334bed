import { defineTool } from 'longhaul';

export default defineTool({
  name: 'pencil',
  description: { does: 'Shares the queue easel, and goes first.' },
  input: {
    type: 'object',
    properties: { folder: { type: 'string' }, name: { type: 'string' } },
    required: ['folder', 'name'],
  },
  estimate: { seconds: 20 },
  questions: {},
  queue: { name: 'easel', concurrency: 1 },
  priority: 1,
});
