/**
 * Private door to @temporalio/worker, seen in 1.24.0: the modules that its bundler refuses. Its report doesn't name their
 * importers.
 */
export { disallowedModules } from '@temporalio/worker/lib/workflow/bundler.js';
