import { heldTool } from '../held-tool.js';

export default heldTool('briefly', 'Runs one; others wait for a second.', {
  queue: { concurrency: 1, waitSeconds: 1 },
});
