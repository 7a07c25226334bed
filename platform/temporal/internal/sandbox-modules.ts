/**
 * Private door to @temporalio/worker, seen in 1.24.0: the modules that its bundler refuses. The bundler's report doesn't name the
 * files that import them.
 */
export { disallowedModules } from '@temporalio/worker/lib/workflow/bundler.js';
