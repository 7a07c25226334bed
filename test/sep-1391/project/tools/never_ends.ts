import { defineTool } from 'longhaul';

/** Ends only by a failure. Async only; other clients get MCP's own rules for required tasks. */
export default defineTool({
  name: 'never_ends',
  description: { does: 'Works until something goes wrong.' },
  input: { type: 'object', properties: {} },
  taskSupport: 'required',
  estimate: { seconds: 200 },
});
