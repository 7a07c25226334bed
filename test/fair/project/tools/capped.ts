import { defineTool } from 'longhaul';

export default defineTool({
  name: 'capped',
  description: { does: 'Runs three at once, one of a caller.' },
  input: {
    type: 'object',
    properties: { folder: { type: 'string' }, name: { type: 'string' } },
    required: ['folder', 'name'],
  },
  estimate: { seconds: 20 },
  questions: {},
  queue: { concurrency: 3, perCaller: 1 },
});
