/**
 * Private door to @temporalio/workflow, seen in 1.24.0: the workflow's random generator. Temporal replaces it when an operator
 * resets the workflow, and no public API shows a reset. Drawing from it would change the draws of the workflow's own code.
 */
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';

/** The generator, as an object to compare. */
export function randomSource(): unknown {
  return getActivator().random;
}
