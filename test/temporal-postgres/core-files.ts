/**
 * The core's part that CI runs: what may differ on a Temporal with PostgreSQL, behind certificates and without an operator's rights.
 * The topology test (test/operate) has it too, with kills. `run.ts test/core` runs everything there.
 */
export const CORE_FILES = [
  'engine',
  'large-values',
  'operators',
  'storage-sweep',
  'tasks',
  'without-search-attributes',
  'without-workers',
].map((name) => `test/core/${name}.test.ts`);
