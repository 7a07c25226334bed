export { default } from '../../../fair/project/tools/brush.js';
