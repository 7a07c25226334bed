/**
 * The core's part that CI runs: tests about operations on any Temporal. The rest of test/core is about the embedded stack, needs
 * no Temporal, or waits for minutes: `run.ts test/core` runs everything there.
 */
export const CORE_FILES = [
  'bad-input',
  'engine',
  'history-events',
  'hostile-json',
  'kills',
  'large-values',
  'operators',
  'prompts',
  'storage-sweep',
  'task-name-header',
  'tasks',
  'tokens',
  'without-search-attributes',
  'without-workers',
].map((name) => `test/core/${name}.test.ts`);
