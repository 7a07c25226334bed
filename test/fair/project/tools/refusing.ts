import { heldTool } from '../held-tool.js';

export default heldTool('refusing', 'Runs one, and lets none wait.', {
  queue: { concurrency: 1, maxWaiting: 0 },
});
