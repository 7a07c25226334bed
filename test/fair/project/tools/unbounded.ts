import { heldTool } from '../held-tool.js';

export default heldTool('unbounded', 'Has no queue.');
