/**
 * Private door to @temporalio/common, seen in 1.24.0: parses a duration (`5m`) to milliseconds like the SDK's own options. The
 * package's index exports it too, deprecated, but would load the whole package for each command.
 */
export { msToNumber, type StringValue } from '@temporalio/common/lib/time.js';
