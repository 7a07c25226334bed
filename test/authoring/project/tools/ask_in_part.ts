import { defineTool } from 'longhaul';

export default defineTool({
  name: 'ask_in_part',
  description: { does: 'Asks in a child workflow, then waits.' },
  input: { type: 'object' },
  estimate: { seconds: 5 },
});
