export * from '../../../fixtures/project/activities/step_ledger.js';
