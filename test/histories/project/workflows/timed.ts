export { timed, timed_part } from '../../../fixtures/project/workflows/timed.js';
