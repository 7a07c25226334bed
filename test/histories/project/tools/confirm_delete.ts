export { default } from '../../../fixtures/project/tools/confirm_delete.js';
