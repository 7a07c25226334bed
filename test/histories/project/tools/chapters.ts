export { default } from '../../../authoring/project/tools/chapters.js';
