/**
 * Private door to @temporalio/common, seen in 1.24.0: durations (`5m`) in milliseconds, as in the SDK's own options. The
 * package's index also exports this, deprecated, but would load the whole package for each command.
 */
export { msToNumber, type StringValue } from '@temporalio/common/lib/time.js';
