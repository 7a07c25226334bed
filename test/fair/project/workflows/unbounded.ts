export { held as unbounded } from '../held-workflow.js';
