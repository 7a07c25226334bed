/**
 * Private door to @temporalio/worker, seen in 1.24.0: the native connection and the runtime. Both are public exports, but the
 * package's index loads the whole worker with webpack and RxJS: a fifth of the server's start-up time.
 */
export { NativeConnection } from '@temporalio/worker/lib/connection.js';
export { Runtime } from '@temporalio/worker/lib/runtime.js';
export { makeTelemetryFilterString } from '@temporalio/worker/lib/runtime-options.js';
