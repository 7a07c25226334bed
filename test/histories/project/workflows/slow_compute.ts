export { slow_compute } from '../../../fixtures/project/workflows/slow_compute.js';
