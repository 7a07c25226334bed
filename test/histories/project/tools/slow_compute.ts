export { default } from '../../../fixtures/project/tools/slow_compute.js';
