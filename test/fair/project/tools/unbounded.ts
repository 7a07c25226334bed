import { defineTool } from 'longhaul';

export default defineTool({
  name: 'unbounded',
  description: { does: 'Has no queue.' },
  input: {
    type: 'object',
    properties: { folder: { type: 'string' }, name: { type: 'string' } },
    required: ['folder', 'name'],
  },
  estimate: { seconds: 20 },
  questions: {},
});
