import { defineTool } from 'longhaul';

export default defineTool({
  name: 'times_out',
  description: { does: 'Finishes one part, and has no time for the other.' },
  input: { type: 'object', properties: {} },
  deadlineSeconds: 1,
  estimate: { seconds: 1 },
});
