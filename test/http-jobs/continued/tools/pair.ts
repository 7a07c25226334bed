import { bareTool } from '../../../fixtures/bare-tool.js';

export default bareTool('pair', 'Asks in one child workflow, then in another.');
