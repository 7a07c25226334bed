import { defineTool } from 'longhaul';

/** What only a failure ends; async only, by MCP's own rules for other clients. */
export default defineTool({
  name: 'never_ends',
  description: { does: 'Works until something goes wrong.' },
  input: { type: 'object', properties: {} },
  taskSupport: 'required',
  estimate: { seconds: 200 },
});
