import { defineTool } from 'longhaul';

export default defineTool({
  name: 'too_long',
  description: { does: 'Takes longer than it may.' },
  input: { type: 'object', properties: {} },
  deadlineSeconds: 1,
  estimate: { seconds: 1 },
});
