export { step_ledger } from '../../../fixtures/project/workflows/step_ledger.js';
