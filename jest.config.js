/** Tests run the TypeScript sources; those that start processes run `dist`, which `npm test` builds. */
import { createJiti } from 'jiti';

const { fastFiles } = await createJiti(import.meta.url).import('./test/runner/import-graph.ts');
/** Test files that need no Temporal and no built code. */
const FAST = (await fastFiles()).map((path) => `${import.meta.dirname}/${path}`);

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
  testTimeout: 600_000,
  maxWorkers: 4,
  testSequencer: './test/spread-long-files.js',
  reporters: ['default', './test/reporter.js'],
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
