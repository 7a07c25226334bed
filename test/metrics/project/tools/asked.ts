import { bareTool } from '../../../fixtures/bare-tool.js';

export default bareTool('asked', 'Waits for an answer.', { estimate: { seconds: 60 } });
