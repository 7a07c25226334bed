import { heldTool } from '../held-tool.js';

export default heldTool('brush', 'Shares the queue easel.', { queue: { name: 'easel', concurrency: 1 } });
