import { ApplicationFailure, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import { partial, progress, requestInput, stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/run_test_suite.js';
import { countOf, keyOf, mergeRuns } from '../lib/merge.js';
import type { Failure, Plan, ShardResult, Suite, TestHistory } from '../lib/types.js';
import type tool from '../tools/run_test_suite.js';
import { chooseRunner } from '../tools/run_test_suite.js';

/** Items of a result's lists; the report has all. */
const MOST_LISTED = 50;

/** Sent by shards that are still running: a partial result must not wait for their end. */
const failingTests = defineSignal<[Failure[]]>('failing_tests');

const { findSuites, planShards, saveReport } = proxyActivities<typeof activities>({
  startToCloseTimeout: '15m',
  heartbeatTimeout: '15s',
  retry: { maximumAttempts: 5 },
});
const { runShard } = proxyActivities<typeof activities>({
  startToCloseTimeout: '4h',
  // A killed worker is noticed after this time.
  heartbeatTimeout: '15s',
  retry: { maximumAttempts: 5 },
  // A cancelled operation has ended once the processes have.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

type Input = ToolInput<typeof tool>;

export async function run_test_suite(input: Input): Promise<ToolOutput<typeof tool>> {
  const begun = Date.now();
  const failing = new Map<string, Failure>();
  setHandler(failingTests, (tests) => {
    for (const test of tests) failing.set(keyOf(test), test);
    partial({ failing: [...failing.values()].slice(0, MOST_LISTED) });
  });

  stage('find the suite');
  const suite = await chooseSuite(input);
  stage('list its files');
  const plan = await planShards(suite, input);
  if (plan.files > 0) progress({ progress: 0, total: plan.files * input.repeat });
  const results = await runAll(suite, plan, input);

  const tests = mergeRuns(results);
  const problems = results.flatMap(({ problem }) => problem ?? []);
  if (tests.length === 0 && problems.length === 0) {
    const which = input.filter === undefined ? 'there are no tests' : `no test matches "${input.filter}"`;
    throw ApplicationFailure.nonRetryable(
      `${which} in ${plan.files || 'the'} files of ${suite.folder}`,
      'NoTests',
    );
  }
  stage('write the report');
  const report = await saveReport(tests, problems);
  const failed = tests.filter(({ verdict }) => verdict === 'failed');
  const flaky = tests.filter(({ verdict }) => verdict === 'flaky');
  return {
    runner: suite.runner,
    outcome: failed.length + problems.length > 0 ? 'failed' : flaky.length > 0 ? 'flaky' : 'passed',
    passed: countOf(tests, 'passed'),
    failed: failed.length,
    flaky: flaky.length,
    skipped: countOf(tests, 'skipped'),
    failures: failed.slice(0, MOST_LISTED).map(failureOf),
    flakyTests: flaky.slice(0, MOST_LISTED).map((test) => ({ ...failureOf(test), outcomes: test.outcomes })),
    problems: problems.slice(0, MOST_LISTED),
    notes: [...new Set([...plan.notes, ...results.flatMap(({ notes }) => notes)])].slice(0, MOST_LISTED),
    shards: plan.shards.length,
    seconds: Math.round((Date.now() - begun) / 100) / 10,
    report,
  };
}

const failureOf = ({ file, name, message = '' }: TestHistory) => ({ file, name, message });

async function chooseSuite({ folder, runner }: Input): Promise<Suite> {
  const { folder: real, found } = await findSuites(folder, runner);
  const [first] = found;
  if (found.length === 1) return { runner: first!, folder: real };
  const question = `${folder} has suites of ${found.join(', ')}. Which one should be run?`;
  const answer = await requestInput(chooseRunner, question);
  if (answer.action === 'decline') throw ApplicationFailure.nonRetryable('no suite was chosen', 'NotChosen');
  if (!found.includes(answer.content.runner))
    throw ApplicationFailure.nonRetryable(`${folder} has no suite of ${answer.content.runner}`, 'NoSuite');
  return { runner: answer.content.runner, folder: real };
}

/** All runs of all shards, then those of failed tests. A suite that hangs or crashes isn't run again. */
async function runAll(suite: Suite, { shards }: Plan, input: Input): Promise<ShardResult[]> {
  const results: ShardResult[] = [];
  const isSound = () => results.every(({ problem }) => !problem || problem.kind === 'exit_code');
  for (let run = 1; run <= input.repeat && isSound(); run += 1) {
    stage(input.repeat === 1 ? 'run the tests' : `run the tests, ${run} of ${input.repeat}`);
    results.push(...(await Promise.all(shards.map((shard) => runShard(suite, shard, `${run}`, input)))));
  }
  for (let rerun = 1; rerun <= input.reruns && isSound(); rerun += 1) {
    const failed = mergeRuns(results)
      .filter(({ verdict }) => verdict === 'failed')
      .map(({ file, name }) => ({ file, name }));
    if (failed.length === 0) break;
    stage(`run ${failed.length} failed again`);
    results.push(await runShard(suite, { name: '1/1' }, `rerun ${rerun}`, input, failed));
  }
  return results;
}
