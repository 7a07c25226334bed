export * from '../../../fixtures/project/activities/failing_job.js';
