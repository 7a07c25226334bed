import { ApplicationFailure } from '@temporalio/activity';
import { log, report, writeArtifact } from 'longhaul/activity';
import type { Collector } from '../lib/collect.js';
import { detectRunners } from '../lib/detect.js';
import { allowedFolder } from '../lib/folder.js';
import { junitXml } from '../lib/junit.js';
import { explained, listingFailed, runInActivity } from '../lib/run-in-activity.js';
import { problemOf } from '../lib/run-shard.js';
import { ADAPTERS, type Capture } from '../lib/runners/index.js';
import { FailureSender } from '../lib/send-failures.js';
import type {
  Plan,
  Problem,
  Runner,
  Shard,
  ShardResult,
  Suite,
  TestCase,
  TestEvent,
  TestHistory,
} from '../lib/types.js';

/** Characters of one run's output that go into the log. */
const MOST_LOGGED = 4 * 2 ** 20;

/** Arguments of the call that activities need. */
export interface RunInput {
  filter?: string | undefined;
  shards: number;
  silenceSeconds: number;
  runnerArgs: string[];
}

/** @returns the real folder, and the runners that its files are made for */
export async function findSuites(
  given: string,
  runner?: Runner,
): Promise<{ folder: string; found: Runner[] }> {
  const folder = await allowedFolder(given);
  if (runner) return { folder, found: [runner] };
  const found = await detectRunners(folder);
  if (found.size === 0) {
    const wanted =
      'jest or vitest in package.json, files that import node:test, pytest, go.mod or Cargo.toml';
    throw ApplicationFailure.nonRetryable(`${given} has no test suite: expected ${wanted}`, 'NoSuite');
  }
  for (const [name, file] of found) log.info(`found ${name}`, { by: file });
  return { folder, found: [...found.keys()] };
}

/** Lists the suite's files, and splits them into as many shards as there is work for. */
export async function planShards({ runner, folder }: Suite, input: RunInput): Promise<Plan> {
  const adapter = ADAPTERS[runner];
  if (!adapter.list) {
    const notes = input.shards > 1 ? [`${runner} can't split a suite: it ran as one shard`] : [];
    return { files: 0, shards: [{ name: '1/1' }], notes };
  }
  const capture: Capture = async (argv, environment = {}) => {
    const output: string[] = [];
    const events: TestEvent[] = [];
    const onLine = (line: string) => void output.push(line);
    const { ended } = await runInActivity(folder, {
      argv,
      environment,
      input,
      onLine,
      onEvent: (event) => void events.push(event),
    });
    if (ended.exitCode !== 0 && events.length === 0) throw listingFailed(argv, ended);
    return { stdout: output.join('\n'), events };
  };
  const files = (await explained(adapter.list({ ...input, folder }, capture))).sort();
  if (files.length === 0)
    throw ApplicationFailure.nonRetryable(`${runner} finds no files with tests in ${folder}`, 'NoTests');
  const count = Math.min(input.shards, files.length);
  const shards = Array.from({ length: count }, (_, index) => ({
    name: `${index + 1}/${count}`,
    ...(adapter.hasListedShards && { files: files.filter((_file, at) => at % count === index) }),
  }));
  return { files: files.length, shards, notes: [] };
}

/** Runs a shard, or with `tests` those once more. */
export async function runShard(
  { runner, folder }: Suite,
  shard: Shard,
  name: string,
  input: RunInput,
  tests?: Pick<TestCase, 'file' | 'name'>[],
): Promise<ShardResult> {
  const begun = performance.now();
  const adapter = ADAPTERS[runner];
  const choice = { ...input, folder };
  const argv = await explained(tests ? adapter.rerun(choice, tests) : adapter.run(choice, shard));
  log.info('runner starts', { run: name, shard: shard.name, command: argv.join(' ').slice(0, 2_000) });
  const failures = new FailureSender();
  let logged = 0;
  const onLine = (line: string) => {
    logged += line.length;
    if (logged <= MOST_LOGGED) log.info(line, { run: name, shard: shard.name });
    else if (logged - line.length <= MOST_LOGGED)
      log.warn('further output is left out', { shard: shard.name });
  };
  const onEvent = (event: TestEvent, collector: Collector) => {
    if (event.event === 'end') failures.add(collector.takeFailures());
    const running = collector.running[0];
    const counts = `${collector.tests.length} tests, ${collector.failed} failed`;
    const message = `shard ${shard.name}: ${counts}${running === undefined ? '' : `; ${running}`}`;
    report({ progress: tests ? 0 : collector.filesDone, message });
  };
  const reader = adapter.reader?.(tests ? { name: '1/1' } : shard);
  const { environment = {} } = adapter;
  const isRerun = tests !== undefined;
  const { ended, collector } = await runInActivity(folder, {
    argv,
    environment,
    input,
    isRerun,
    onLine,
    onEvent,
    reader,
  });
  await failures.flush();
  const problem = problemOf(ended, collector, input.silenceSeconds, adapter.harmlessExitCodes);
  if (problem) log.warn(problem.message, { run: name, shard: shard.name });
  const outlived = `${ended.outlived} processes outlived the runner and were ended`;
  return {
    run: name,
    shard: shard.name,
    tests: collector.tests,
    ...(problem && { problem: { run: name, shard: shard.name, ...problem } }),
    notes: ended.outlived > 0 ? [`shard ${shard.name}: ${outlived}`] : [],
    ms: Math.round(performance.now() - begun),
  };
}

/** @returns the address of the JUnit XML */
export async function saveReport(tests: TestHistory[], problems: Problem[]): Promise<string> {
  return (await writeArtifact('junit.xml', junitXml(tests, problems))).uri;
}
