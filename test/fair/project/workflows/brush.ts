export { held as brush } from '../held-workflow.js';
