import { defineTool } from 'longhaul';

export default defineTool({
  name: 'broken_module',
  description: { does: 'Has a workflow whose module throws as it is evaluated.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 1 },
});
