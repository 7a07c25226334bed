import { defineTool } from 'longhaul';

export default defineTool({
  name: 'clashing',
  description: { does: 'Shares a queue under other limits.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 1 },
  queue: { name: 'easel', concurrency: 2 },
});
