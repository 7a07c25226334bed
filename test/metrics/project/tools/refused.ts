import { bareTool } from '../../../fixtures/bare-tool.js';

export default bareTool('refused', 'Fails.', { wait: true });
