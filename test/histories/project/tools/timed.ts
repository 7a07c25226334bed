export { default } from '../../../fixtures/project/tools/timed.js';
