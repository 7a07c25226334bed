export * from '../../../fair/project/activities/hold.js';
