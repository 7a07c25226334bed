/**
 * Private door to @temporalio/common, seen in 1.24.0: histories in the JSON of Temporal's command line and UI. The package reads
 * that JSON only inside a replay, which can't name a file's bad event.
 */
export { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
