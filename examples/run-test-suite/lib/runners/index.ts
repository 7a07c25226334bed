/** Each runner in the same shape: how its files are listed, how a shard of them is run, and how its output is read. */
import type { Runner, Shard, TestCase, TestEvent } from '../types.js';
import { cargo } from './cargo.js';
import { go } from './go.js';
import { jest, node, vitest } from './javascript.js';
import { pytest } from './pytest.js';

/** Wishes of a caller. */
export interface Choice {
  folder: string;
  /** Name of tests, in the runner's own notation. */
  filter?: string | undefined;
  /** Further arguments of the runner. */
  runnerArgs: string[];
}

/** Runs a command to its end. @returns its standard output, and the events of its reporter */
export type Capture = (
  argv: string[],
  environment?: Record<string, string>,
) => Promise<{ stdout: string; events: TestEvent[] }>;

export interface RunnerAdapter {
  /** Lists files with tests; for go packages. Undefined for a runner that has no shards. */
  list?: (choice: Choice, capture: Capture) => Promise<string[]>;
  /** Whether a shard is a list of files; otherwise the runner gets `1/3`. */
  hasListedShards: boolean;
  /** @returns program and arguments that run a shard */
  run: (choice: Choice, shard: Shard) => Promise<string[]>;
  /** @returns program and arguments that run failed tests once more, and as few others as the runner allows */
  rerun: (choice: Choice, tests: Pick<TestCase, 'file' | 'name'>[]) => Promise<string[]>;
  environment?: Record<string, string>;
  /** Reads events from lines of the output, for runners without a reporter of ours. Called with undefined at the end. */
  reader?: (shard: Shard) => (line: string | undefined) => { events: TestEvent[]; text?: string };
  /** Exit codes other than 0 that don't need a failed test as their reason. */
  harmlessExitCodes?: number[];
}

export const ADAPTERS: Record<Runner, RunnerAdapter> = { jest, vitest, node, pytest, go, cargo };
