import { defineTool } from 'longhaul';

export default defineTool({
  name: 'refused',
  description: { does: 'Ends with an error of the protocol.' },
  input: { type: 'object', properties: {} },
  taskSupport: 'required',
  estimate: { seconds: 1 },
});
