import { defineTool } from 'longhaul';

export default defineTool({
  name: 'briefly',
  description: { does: 'Runs one; others wait for a second.' },
  input: {
    type: 'object',
    properties: { folder: { type: 'string' }, name: { type: 'string' } },
    required: ['folder', 'name'],
  },
  estimate: { seconds: 20 },
  questions: {},
  queue: { concurrency: 1, waitSeconds: 1 },
});
