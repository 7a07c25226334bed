/** Workflow names that differ between two bundles. */
import type { CodeVersions } from './kept-code.js';

export interface Differences {
  changed: string[];
  missing: string[];
  added: string[];
}

/** Compares the exports of two bundles. A change in Longhaul or a package changes every export. */
export function differences(before: CodeVersions, after: CodeVersions): Differences {
  const names = Object.keys(before.exports);
  const isOtherRuntime = before.runtimeDigest !== after.runtimeDigest;
  return {
    changed: names.filter(
      (name) => name in after.exports && (isOtherRuntime || after.exports[name] !== before.exports[name]),
    ),
    missing: names.filter((name) => !(name in after.exports)),
    added: Object.keys(after.exports).filter((name) => !(name in before.exports)),
  };
}
