import { bareTool } from '../../../fixtures/bare-tool.js';

export default bareTool('held', 'Works until it is canceled.', { estimate: { seconds: 60 } });
