import { defineTool } from 'longhaul';

/** Async only; other clients aren't shown it. */
export default defineTool({
  name: 'deep_analysis',
  description: { does: 'Does complex analysis.' },
  input: { type: 'object', properties: {} },
  taskSupport: 'required',
  withoutTasks: 'hidden',
  estimate: { seconds: 1 },
});
