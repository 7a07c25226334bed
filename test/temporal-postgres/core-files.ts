/**
 * CI runs these there: they may differ on a Temporal with PostgreSQL, behind certificates and without an operator's rights. The topology
 * test (test/operate) has it too, with kills.
 */
export const CORE_FILES = [
  'engine/engine',
  'engine/operators',
  'engine/without-workers',
  'operations/large-values',
  'revision-2026-07-28/tasks',
  'storage/storage-sweep',
  'temporal/without-search-attributes',
].map((name) => `test/${name}.test.ts`);
