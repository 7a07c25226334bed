import { defineTool } from 'longhaul';

export default defineTool({
  name: 'billed_elsewhere',
  description: { does: "Runs an activity of another team's worker." },
  input: { type: 'object', properties: { task_queue: { type: 'string' } }, required: ['task_queue'] },
  estimate: { seconds: 1 },
});
