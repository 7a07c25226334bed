export { default } from '../../../deadline/project/tools/timed.js';
