import { defineTool } from 'longhaul';

export default defineTool({
  name: 'watched',
  description: { does: 'Runs one activity until it is cancelled.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 3600 },
  questions: {},
});
