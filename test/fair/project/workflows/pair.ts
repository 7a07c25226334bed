export { held as pair } from '../held-workflow.js';
