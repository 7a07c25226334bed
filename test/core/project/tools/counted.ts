import { defineTool } from 'longhaul';

export default defineTool({
  name: 'counted',
  description: { does: 'Runs one activity that reports progress.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 1 },
});
