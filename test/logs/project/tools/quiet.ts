import { defineTool } from 'longhaul';

export default defineTool({
  name: 'quiet',
  description: { does: 'Logs nothing.' },
  input: { type: 'object' },
  estimate: { seconds: 1 },
});
