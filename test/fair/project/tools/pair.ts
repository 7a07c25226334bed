import { heldTool } from '../held-tool.js';

export default heldTool('pair', 'Runs two at once.', { queue: { concurrency: 2 } });
