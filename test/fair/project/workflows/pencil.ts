export { held as pencil } from '../held-workflow.js';
