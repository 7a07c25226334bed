export { held as briefly } from '../held-workflow.js';
