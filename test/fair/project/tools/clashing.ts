import { bareTool } from '../../../fixtures/bare-tool.js';

export default bareTool('clashing', 'Shares a queue under other limits.', {
  queue: { name: 'easel', concurrency: 2 },
});
