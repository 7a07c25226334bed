import { defineTool } from 'longhaul';

export default defineTool({
  name: 'side_by_side',
  description: { does: 'Runs four activities and four local activities at once.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 2 },
});
