/**
 * Private door to @temporalio/worker, seen in 1.24.0: its global handlers rewrite the stacks of the sandbox by source maps, and
 * have no option for the places that a replay report needs.
 */
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/**
 * Makes stacks of the sandbox exact: with the names that V8 has for functions (source maps may have that of the called function),
 * and with columns.
 */
export function exactStacks(): void {
  const add = globalHandlers.addWorkflowBundle.bind(globalHandlers);
  globalHandlers.addWorkflowBundle = async (bundle) => {
    await add(bundle);
    const consumer = globalHandlers.bundleFilenameToSourceMapConsumer.get(bundle.filename)!;
    const original = consumer.originalPositionFor.bind(consumer);
    // Columns of V8 begin with 1, those of source maps with 0.
    consumer.originalPositionFor = (place) => ({
      ...original({ ...place, column: Math.max(0, place.column - 1) }),
      name: null,
    });
  };
}
