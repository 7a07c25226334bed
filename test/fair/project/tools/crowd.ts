import { heldTool } from '../held-tool.js';

export default heldTool('crowd', 'Runs eight at once.', { queue: { concurrency: 8 } });
