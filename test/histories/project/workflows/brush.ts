export { brush } from '../../../fair/project/workflows/brush.js';
