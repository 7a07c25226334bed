import { defineTool } from 'longhaul';

export default defineTool({
  name: 'long_history',
  description: { does: 'Makes a history of over 4,096 events and 4 MiB.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 10 },
});
