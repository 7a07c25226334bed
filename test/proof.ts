/** The promises that `npm test` proves, each with the files that prove it. test/README.md shows them. */
export interface Promised {
  promise: string;
  files: string[];
}

export const PROOF: Promised[] = [
  {
    promise: 'A call of a long tool gives a handle at once, which every protocol follows to the result',
    files: ['test/core/tokens.test.ts'],
  },
  {
    promise: 'A task shows its state from the first moment to the last',
    files: ['test/core/tasks.test.ts'],
  },
  {
    promise: 'A client of the official SDK drives a job to its end and collects it again elsewhere',
    files: ['test/clients/http.test.ts'],
  },
  {
    promise: 'Progress never decreases, through kills and cancels',
    files: ['test/progress/progress.test.ts'],
  },
  {
    promise: 'A repeated call with an idempotency key works once',
    files: ['test/idempotency/keys.test.ts'],
  },
  {
    promise: 'A caller without a key sees nothing but the health, and a revoked key ends its streams',
    files: ['test/auth/keys.test.ts'],
  },
  {
    promise: 'A pipeline in YAML is checked with the line and the correction of each mistake',
    files: ['test/pipelines/language.test.ts', 'test/pipelines/language-problems.test.ts'],
  },
  {
    promise: 'A pattern of a caller takes linear time',
    files: ['test/patterns/validator.test.ts', 'test/patterns/syntax.test.ts'],
  },
  {
    promise: 'The audit log shows each change of its lines',
    files: ['test/auth/audit-chain.test.ts'],
  },
  {
    promise: 'A row in test/suites.ts covers every suite and every room of the source',
    files: ['test/repository/suites.test.ts'],
  },
];

/** All files of the proof. */
export const proofFiles = (proof = PROOF): string[] =>
  [...new Set(proof.flatMap(({ files }) => files))].sort();
