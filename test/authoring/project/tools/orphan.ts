import { defineTool } from 'longhaul';

export default defineTool({
  name: 'orphan',
  description: { does: 'Has no workflow.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 1 },
});
