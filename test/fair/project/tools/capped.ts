import { heldTool } from '../held-tool.js';

export default heldTool('capped', 'Runs three at once, one of a caller.', {
  queue: { concurrency: 3, perCaller: 1 },
});
