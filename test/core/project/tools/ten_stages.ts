import { defineTool } from 'longhaul';

export default defineTool({
  name: 'ten_stages',
  description: { does: 'Runs an activity in each of ten stages.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 1 },
});
