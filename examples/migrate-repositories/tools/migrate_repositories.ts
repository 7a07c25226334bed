import { z } from 'zod';
import { defineTool } from 'longhaul';
import { STATES, tableOf, type Row } from '../lib/states.js';

const row = z.object({
  name: z.string(),
  path: z.string(),
  state: z.enum(STATES),
  reason: z.string().optional(),
  note: z.string().optional(),
  files: z.number().optional(),
  changes: z.number().optional(),
  left: z.array(z.string()).optional(),
  diff: z.string().optional(),
  log: z.string().optional(),
  branch: z.string().optional(),
  commit: z.string().optional(),
});

export default defineTool({
  name: 'migrate_repositories',
  title: 'Migrate repositories',
  description: {
    does: 'Replaces deprecated Node.js APIs (new Buffer, fs.exists, util.isString and the like) in git repositories, side by side, and commits to a new branch in those that are approved.',
    useWhen:
      'Each repository is cloned, built and tested before and after; nothing is written to it before the approval, and only the branch after. Runs the commands of the repositories.',
    returns: 'a row for each repository: state, reason, counts, places left to people, diff, commit.',
  },
  input: z.object({
    repositories: z
      .array(z.string().min(1))
      .min(1)
      .max(100)
      .describe('Paths of repositories on the worker, absolute or from its project folder.'),
    branch: z.string().min(1).max(200).default('migrate-node-apis').describe('Branch to create.'),
    checks: z
      .array(z.string().min(1))
      .min(1)
      .max(20)
      .optional()
      .describe(
        "Shell commands that have to pass. Default: build and test of each repository's package.json.",
      ),
    author: z
      .string()
      .regex(/^[^<>]+ <[^<>]+>$/)
      .optional()
      .describe("Author of the commits, Name <email>. Default: by each repository's git config."),
    parallel: z.number().int().min(1).max(16).default(2).describe('Repositories at once.'),
    commandSeconds: z.number().int().min(1).max(7200).default(600).describe('Time limit of each command.'),
  }),
  output: z.object({ repositories: z.array(row) }),
  toText: ({ repositories }) => tableOf(repositories as Row[]),
  deadlineSeconds: 8 * 3600,
  estimate: { seconds: 5, per: { argument: 'repositories', seconds: 30 } },
  cleanup:
    'the clones are removed, and branches that the call has created; the repositories stay as they were.',
  retryableErrors: [],
  example: {
    input: {
      repositories: ['/srv/orders-api'],
      branch: 'migrate-node-apis',
      parallel: 2,
      commandSeconds: 600,
    },
    output: {
      repositories: [
        {
          name: 'orders-api',
          path: '/srv/orders-api',
          state: 'committed',
          files: 3,
          changes: 8,
          left: [],
          diff: 'longhaul://operations/TOKEN/artifacts/orders-api.diff',
          branch: 'migrate-node-apis',
          commit: '4d1f0c2b7a9e4f0c8d6b5a3e2f1c0b9a8d7e6f5c',
        },
      ],
    },
  },
});
