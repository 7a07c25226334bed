/** Verdicts over all runs of a suite. Pure: the workflow imports it. */
import type { ShardResult, TestHistory } from './types.js';

const LETTERS = { passed: 'P', failed: 'F', skipped: 'S' } as const;

export const keyOf = ({ file, name }: { file: string; name: string }) => `${file}\0${name}`;

/** Every test with its outcomes, in the order in which it was first seen. A test that failed and passed is flaky. */
export function mergeRuns(results: readonly ShardResult[]): TestHistory[] {
  const tests = new Map<string, TestHistory>();
  for (const { tests: ended } of results) {
    for (const { file, name, status, ms, message } of ended) {
      const key = keyOf({ file, name });
      const test = tests.get(key) ?? { file, name, outcomes: '', verdict: status, ms };
      test.outcomes += LETTERS[status];
      test.ms = ms;
      if (status === 'failed') test.message ??= message ?? '';
      test.verdict = verdictOf(test.outcomes);
      tests.set(key, test);
    }
  }
  return [...tests.values()];
}

function verdictOf(outcomes: string): TestHistory['verdict'] {
  if (outcomes.includes('F')) return outcomes.includes('P') ? 'flaky' : 'failed';
  return outcomes.includes('P') ? 'passed' : 'skipped';
}

export const countOf = (tests: readonly TestHistory[], verdict: TestHistory['verdict']) =>
  tests.filter((test) => test.verdict === verdict).length;
