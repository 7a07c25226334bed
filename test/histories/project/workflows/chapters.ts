export { chapters } from '../../../authoring/project/workflows/chapters.js';
