import { defineTool } from 'longhaul';

export default defineTool({
  name: 'odd_workflow',
  description: { does: 'Logs values from its workflow that have no JSON.' },
  input: { type: 'object' },
  estimate: { seconds: 1 },
});
