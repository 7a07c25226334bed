/** The benchmarks' workflows for a bare worker. */
export { noop } from '../project/workflows/noop.js';
export { noop_activity } from '../project/workflows/noop_activity.js';
export { sleeper } from '../project/workflows/sleeper.js';
