export { confirm_delete } from '../../../fixtures/project/workflows/confirm_delete.js';
