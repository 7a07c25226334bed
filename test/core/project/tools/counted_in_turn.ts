import { defineTool } from 'longhaul';

export default defineTool({
  name: 'counted_in_turn',
  description: { does: 'Runs one activity that reports progress, one operation at a time.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 1 },
  queue: { concurrency: 1 },
});
