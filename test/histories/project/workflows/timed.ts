export { timed, timed_part } from '../../../deadline/project/workflows/timed.js';
