/** Reports of runners, and what becomes of them. Workflow code imports this file, so it imports nothing of Node.js. */

export const RUNNERS = ['jest', 'vitest', 'node', 'pytest', 'go', 'cargo'] as const;
export type Runner = (typeof RUNNERS)[number];

export type Status = 'passed' | 'failed' | 'skipped';

/** One line of a reporter (`reporters/`), or the same read from the output of go and cargo. */
export type TestEvent =
  /** Number of tests, where the runner knows it before it begins; for pytest also the files. */
  | { event: 'plan'; tests: number; files?: string[] }
  | { event: 'start'; file: string; name: string }
  | EndEvent
  /** The message of a failed test, from runners that print it at the end. */
  | { event: 'message'; file: string; name: string; message: string }
  /** All tests of a file (go: package, cargo: binary) have ended. */
  | { event: 'file'; file: string }
  /** The runner has come to its end, whatever the tests did. */
  | { event: 'done' };

export interface EndEvent {
  event: 'end';
  file: string;
  name: string;
  status: Status;
  ms: number;
  message?: string;
  /** Name under which it was started, if that was another one. */
  startedAs?: string;
  /** A suite, or a test with subtests: it isn't counted. */
  isParent?: boolean;
}

export interface TestCase {
  /** Relative to the suite's folder; for go the package, for cargo the binary. */
  file: string;
  name: string;
  status: Status;
  ms: number;
  message?: string;
}

export type Failure = Pick<TestCase, 'file' | 'name'> & { message: string };

/** Why a run of a shard says less than it should. */
export interface Problem {
  run: string;
  shard: string;
  kind: 'hung' | 'crashed' | 'exit_code';
  message: string;
  /** Tests that had begun and not ended. */
  running: string[];
  lastLines: string[];
}

/** One part of a suite, run by one process of its runner. */
export interface Shard {
  /** `1/3` */
  name: string;
  /** Files or packages, for runners that get their part as a list. */
  files?: string[];
}

export interface Suite {
  runner: Runner;
  /** Absolute, without symbolic links. */
  folder: string;
}

export interface Plan {
  /** Files with tests; for go packages. 0 for cargo, which doesn't list them. */
  files: number;
  shards: Shard[];
  notes: string[];
}

/** A run of one shard. */
export interface ShardResult {
  /** `1`, `2`, ...; `rerun 1` of tests that had failed. */
  run: string;
  shard: string;
  tests: TestCase[];
  problem?: Problem;
  notes: string[];
  ms: number;
}

/** Outcomes of a test in all of its runs. */
export interface TestHistory {
  file: string;
  name: string;
  /** A letter for each run in which it ended: P passed, F failed, S skipped. */
  outcomes: string;
  verdict: Status | 'flaky';
  /** In the latest run. */
  ms: number;
  /** From the first failure. */
  message?: string;
}
