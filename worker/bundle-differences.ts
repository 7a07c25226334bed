/** Names of workflows by which two bundles differ. */
import type { WorkflowBundle } from './bundle.js';

export interface Differences {
  changed: string[];
  missing: string[];
  added: string[];
}

/** Compares the exports of two bundles: name -> digest of the project's code that it depends on. */
export function differences(
  before: WorkflowBundle['exports'],
  after: WorkflowBundle['exports'],
): Differences {
  const names = Object.keys(before);
  return {
    changed: names.filter((name) => name in after && after[name] !== before[name]),
    missing: names.filter((name) => !(name in after)),
    added: Object.keys(after).filter((name) => !(name in before)),
  };
}
