import { heldTool } from '../held-tool.js';

export default heldTool('pencil', 'Shares the queue easel, and goes first.', {
  queue: { name: 'easel', concurrency: 1 },
  priority: 1,
});
