export { default } from '../../../fixtures/project/tools/step_ledger.js';
