import { defineTool } from 'longhaul';

export default defineTool({
  name: 'forty_activities',
  description: { does: 'Runs 40 activities, with a partial result of 60 KB.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 1 },
});
