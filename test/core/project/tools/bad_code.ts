import { defineTool } from 'longhaul';

export default defineTool({
  name: 'bad_code',
  description: { does: 'Runs code that would end its worker, or waits in its cleanup.' },
  input: {
    type: 'object',
    properties: { mistake: { type: 'string' } },
    required: ['mistake'],
  },
  cleanupSeconds: 1,
  estimate: { seconds: 10 },
});
