export { failing_job } from '../../../fixtures/project/workflows/failing_job.js';
