export { held as capped } from '../held-workflow.js';
