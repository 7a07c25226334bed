import { defineTool } from 'longhaul';

/** Async only; other clients get the plain contract. */
export default defineTool({
  name: 'nightly_report',
  description: { does: 'Writes the report of the night.' },
  input: { type: 'object', properties: {} },
  taskSupport: 'required',
  withoutTasks: 'plain',
  estimate: { seconds: 1 },
});
