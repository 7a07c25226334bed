import { z } from 'zod';
import { defineTool } from 'longhaul';
import { renderReview } from '../lib/merge.js';
import { ASPECTS, SEVERITIES } from '../lib/review.js';

/** Asked for a diff that has more files than `maxFiles`. */
export const reviewAll = z.object({ all: z.boolean().describe('Check all files of the diff?') });

const finding = z.object({
  file: z.string(),
  line: z.number(),
  severity: z.enum(SEVERITIES),
  rule: z.string(),
  message: z.string(),
  by: z.array(z.enum(ASPECTS)).describe('Checks that found it.'),
});

export default defineTool({
  name: 'review_diff',
  description: {
    does: 'Checks the lines that a diff adds: with ESLint, with the TypeScript compiler, and for secrets and missing tests.',
    useWhen: 'Use it on a checkout of the state after the change.',
    returns: 'the findings by file and line, and the files that were not checked.',
  },
  input: z.object({
    folder: z.string().min(1).describe('Checkout after the change: absolute, or from the project.'),
    diff: z.string().min(1).describe('File with the unified diff: absolute, or from the project.'),
    aspects: z
      .array(z.enum(ASPECTS))
      .min(1)
      .default([...ASPECTS])
      .describe('Checks to run.'),
    maxFiles: z.number().int().min(1).max(1000).default(50).describe('With more files it asks first.'),
  }),
  output: z.object({
    files: z.number().describe('Files of the diff.'),
    checked: z.number(),
    skipped: z.array(z.object({ file: z.string(), reason: z.string() })),
    findings: z.array(finding),
    omitted: z.number().describe('Findings beyond the first 500.'),
  }),
  toText: ({ findings }) => renderReview(findings),
  deadlineSeconds: 3600,
  estimate: { seconds: 5, per: { argument: 'diff', of: 'file_bytes', seconds: 50e-6 } },
  cleanup: 'nothing: it only reads.',
  retryableErrors: [],
  annotations: { readOnlyHint: true },
  example: {
    input: { folder: 'output/repository', diff: 'output/change.diff' },
    output: {
      files: 1,
      checked: 1,
      skipped: [],
      findings: [
        {
          file: 'src/rates.ts',
          line: 25,
          severity: 'warning',
          rule: 'eqeqeq',
          message: "Expected '==='.",
          by: ['lint'],
        },
      ],
      omitted: 0,
    },
  },
  questions: { reviewAll },
});
