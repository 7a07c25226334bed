export { default } from '../../../fixtures/project/tools/failing_job.js';
