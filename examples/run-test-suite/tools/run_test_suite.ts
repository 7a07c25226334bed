import { z } from 'zod';
import { defineTool } from 'longhaul';
import { RUNNERS } from '../lib/types.js';

const runner = z.enum(RUNNERS);

/** Asked when a folder has suites of several runners and the call names none. */
export const chooseRunner = z.object({ runner: runner.describe('Which suite should be run?') });

const failure = { file: z.string(), name: z.string(), message: z.string().describe('First lines.') };

const output = z.object({
  runner,
  outcome: z.enum(['passed', 'flaky', 'failed']),
  passed: z.number(),
  failed: z.number(),
  flaky: z.number().describe('Tests that failed and passed.'),
  skipped: z.number(),
  failures: z.array(z.object(failure)).describe('At most 50; the report has all.'),
  flakyTests: z.array(
    z.object({ ...failure, outcomes: z.string().describe('P or F for each run, in their order.') }),
  ),
  problems: z
    .array(
      z.object({
        run: z.string(),
        shard: z.string(),
        kind: z.enum(['hung', 'crashed', 'exit_code']),
        message: z.string(),
        running: z.array(z.string()).describe('Tests that had begun and not ended.'),
        lastLines: z.array(z.string()),
      }),
    )
    .describe('Runs that ended otherwise than their tests explain; there may be tests that never ran.'),
  notes: z.array(z.string()),
  shards: z.number(),
  seconds: z.number(),
  report: z.string().describe('Address of the JUnit XML.'),
});

export default defineTool({
  name: 'run_test_suite',
  title: 'Run a test suite',
  description: {
    does: 'Runs the tests of a folder (jest, vitest, node:test, pytest, go test or cargo test) in parallel shards, runs failed ones again, and finds flaky ones.',
    useWhen:
      'Use it for suites that take minutes; its log and the failed tests so far can be read meanwhile.',
    returns: 'counts, failed and flaky tests with their messages, and the address of a JUnit XML.',
  },
  input: z.object({
    folder: z.string().min(1).describe('Folder of the suite, within the data folders.'),
    runner: runner.optional().describe('Default: the one that is found; several are asked about.'),
    filter: z
      .string()
      .regex(/^[^-]/)
      .optional()
      .describe("Only tests whose name matches, in the runner's own notation."),
    shards: z.number().int().min(1).max(16).default(2).describe('Processes at once.'),
    repeat: z.number().int().min(1).max(50).default(1).describe('Runs of the whole suite.'),
    reruns: z.number().int().min(0).max(5).default(1).describe('How often failed tests are run again.'),
    silenceSeconds: z
      .number()
      .int()
      .min(1)
      .max(3600)
      .default(120)
      .describe('A shard without any output for so long is ended.'),
    runnerArgs: z.array(z.string()).max(50).default([]).describe('Further arguments of the runner.'),
  }),
  output,
  toText: summarize,
  deadlineSeconds: 4 * 3600,
  estimate: { seconds: 60, per: { argument: 'repeat', seconds: 60 } },
  cleanup: 'the processes of the tests are ended; files that they wrote stay.',
  retryableErrors: [],
  example: {
    input: { folder: 'samples/node' },
    output: {
      runner: 'node',
      outcome: 'failed',
      passed: 11,
      failed: 1,
      flaky: 0,
      skipped: 0,
      failures: [{ file: 'test/cart.test.js', name: 'totals > rounds once', message: '10.02 !== 10.01' }],
      flakyTests: [],
      problems: [],
      notes: [],
      shards: 2,
      seconds: 4.2,
      report: 'longhaul://operations/TOKEN/artifacts/junit.xml',
    },
  },
  questions: { chooseRunner },
});

/** The result for people. */
function summarize(result: z.infer<typeof output>): string {
  const { runner, outcome, passed, failed, flaky, skipped, shards, seconds, report } = result;
  const list = (title: string, tests: { file: string; name: string; message: string; outcomes?: string }[]) =>
    tests.map(({ file, name, message, outcomes }) => {
      const runs = outcomes === undefined ? '' : ` (${outcomes})`;
      return `\n${title}${runs}: ${file} > ${name}\n${message.replace(/^/gm, '    ')}`;
    });
  return [
    `${outcome}: ${passed} passed, ${failed} failed, ${flaky} flaky, ${skipped} skipped (${runner}, ${shards} shards, ${seconds} s)`,
    ...list('failed', result.failures),
    ...list('flaky', result.flakyTests),
    ...result.problems.map(({ kind, run, shard, message, running, lastLines }) =>
      [
        `\n${kind}: run ${run}, shard ${shard}: ${message}`,
        ...running.map((test) => `    had begun: ${test}`),
        ...lastLines.map((line) => `    | ${line}`),
      ].join('\n'),
    ),
    ...result.notes.map((note) => `\nnote: ${note}`),
    `\nJUnit XML: ${report}`,
  ].join('\n');
}
