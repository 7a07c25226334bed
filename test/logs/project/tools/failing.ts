import { defineTool } from 'longhaul';

export default defineTool({
  name: 'failing',
  description: { does: 'Fails at its second attempt.' },
  input: { type: 'object' },
  estimate: { seconds: 1 },
});
