import { bareTool } from '../../../fixtures/bare-tool.js';

export default bareTool('measured', 'Works in an activity that reports progress, as one of two at once.', {
  wait: true,
  queue: { concurrency: 2 },
});
