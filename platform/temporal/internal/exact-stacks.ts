/**
 * Private door to @temporalio/worker, seen in 1.24.0: its global handlers rewrite the sandbox's stacks by source maps, and have
 * no option for exact places.
 */
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/** Makes the sandbox's stacks exact, with columns and V8's function names: source maps may name the called function. */
export function exactStacks(): void {
  const add = globalHandlers.addWorkflowBundle.bind(globalHandlers);
  globalHandlers.addWorkflowBundle = async (bundle) => {
    await add(bundle);
    const consumer = globalHandlers.bundleFilenameToSourceMapConsumer.get(bundle.filename)!;
    const original = consumer.originalPositionFor.bind(consumer);
    // V8's columns begin with 1, source maps' with 0.
    consumer.originalPositionFor = (place) => ({
      ...original({ ...place, column: Math.max(0, place.column - 1) }),
      name: null,
    });
  };
}
