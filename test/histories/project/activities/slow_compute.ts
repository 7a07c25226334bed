export * from '../../../fixtures/project/activities/slow_compute.js';
