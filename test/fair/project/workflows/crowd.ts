export { held as crowd } from '../held-workflow.js';
