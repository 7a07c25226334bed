/** Tests run the TypeScript sources; those that start processes run `dist`, which `pretest` builds. */

/** Test files that need no Temporal and no built code: `npm run test:fast`. */
export const FAST = [
  'auth/{audit-chain,callers,policy-file,settings}',
  'authoring/{definitions,watch-files}',
  'auth/signatures',
  'analyze_dataset/{artifact,csv-types,field-paths,json-types,profile,query,safety,schema,types}',
  'auth/{counts,proxies}',
  'core/{progress-digits,shared-reads,storage-keys,unfinished-files,visibility-budget,worker-settings-values}',
  'cli/command-table',
  'estimates/fit',
  'external-workflows/{discover-drafts,discover-shapes,language,mapping}',
  'fair/order',
  'foreign-clients/passed',
  'http-jobs/event-positions',
  'mailbox/slots',
  'patterns/{formats,literals,syntax,validator}',
  'pipelines/{activity-shapes,choose-step,language,language-expressions,language-keys,language-outputs,language-problems}',
  'pipelines/{language-reference,language-tool,language-unsupported,language-values}',
  'pipelines/{logs,steps,steps-files,steps-mask}',
  'repository/{documents,fast,words}',
  'traces/context',
  'two-stage/notifications',
].map((path) => `${import.meta.dirname}/test/${path}.test.ts`);

const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/examples/'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
};

export default {
  testTimeout: 180_000,
  maxWorkers: 4,
  testSequencer: './test/spread-long-files.js',
  projects: [
    {
      ...common,
      displayName: 'fast',
      testMatch: FAST,
      setupFiles: ['./test/no-temporal.js'],
    },
    {
      ...common,
      displayName: 'temporal',
      testMatch: ['<rootDir>/test/**/*.test.ts', ...FAST.map((path) => `!${path}`)],
      // Started only when a file of this project runs.
      globalSetup: './test/global-setup.js',
      globalTeardown: './test/global-teardown.js',
    },
  ],
};
