/**
 * Private door to @temporalio/common, seen in 1.24.0: histories in the JSON of Temporal's command line and UI. The package reads it
 * only inside of a replay, where the bad event of a file can't be named.
 */
export { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
