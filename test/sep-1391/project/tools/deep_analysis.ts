import { defineTool } from 'longhaul';

/** Async only; not listed for other clients. */
export default defineTool({
  name: 'deep_analysis',
  description: { does: 'Does complex analysis.' },
  input: { type: 'object', properties: {} },
  taskSupport: 'required',
  withoutTasks: 'hidden',
  estimate: { seconds: 1 },
});
