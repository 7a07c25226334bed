/**
 * Private door to @temporalio/common, seen in 1.24.0: the text of a duration (`5m`) in milliseconds, as the SDK's own options take
 * it. The package's index has the function too, deprecated, and would load all of the package for each command.
 */
export { msToNumber, type StringValue } from '@temporalio/common/lib/time.js';
