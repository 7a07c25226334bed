export { held as refusing } from '../held-workflow.js';
