/**
 * Time limits of tests, hooks and waits that take longer than the defaults (10 minutes for a test: `testTimeout` in
 * jest.config.js; 120 s for `eventually`), in milliseconds. On an idle machine most of these tests take a twentieth of their
 * limit: the limits are for a machine with two cores that runs four test files at once, at half the speed. A limit ends a
 * test that hangs; it never stands for a duration that a test measures. `jest.setTimeout` sets the limit of a whole file.
 */

/** Server and worker as processes on the run's Temporal, started once or twice: 5 to 15 s each on a busy machine. */
export const PROCESSES_MS = 240_000;

/** A stack with its own Temporal, or parts that are killed and restarted several times. */
export const STACK_MS = 360_000;

/** Time-outs of the product that have to pass first: heartbeats (60 to 120 s), a lost host (2 minutes and more). */
export const OUTAGE_MS = 600_000;

/** Installing packages of npm or PyPI, or another Node.js, and runs of thousands of operations. */
export const INSTALL_MS = 1_200_000;
