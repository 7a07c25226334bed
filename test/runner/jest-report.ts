/** Jest's JSON report: counts, failures and seconds of its files. */
import { relative } from 'node:path';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export const NO_TESTS: Counts = { passed: 0, failed: 0, skipped: 0 };

export const addCounts = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
});

/** The part of a report that is read. */
export interface JestReport {
  success: boolean;
  testResults: {
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: {
      fullName: string;
      status: string;
      invocations?: number;
      failureMessages?: string[] | null;
    }[];
  }[];
}

export interface FileResult {
  /** Relative to the root. */
  path: string;
  counts: Counts;
  seconds: number;
  /** Failed tests, each with the beginning of its message. */
  failures: string[];
}

/** Results of the files. A test that has passed only in a second attempt has failed, and so has a file that could not be loaded. */
export function fileResults({ testResults }: JestReport, root = process.cwd()): FileResult[] {
  return testResults.map(({ name, status, message, startTime, endTime, assertionResults }) => {
    const path = relative(root, name);
    const failures: string[] = [];
    let counts = NO_TESTS;
    for (const test of assertionResults) {
      const isRetried = test.status === 'passed' && (test.invocations ?? 1) > 1;
      const outcome = isRetried ? 'failed' : test.status;
      if (outcome === 'passed') counts = addCounts(counts, { ...NO_TESTS, passed: 1 });
      else if (outcome === 'failed') {
        counts = addCounts(counts, { ...NO_TESTS, failed: 1 });
        const why = isRetried ? `passed in attempt ${test.invocations}` : first(test.failureMessages?.[0]);
        failures.push(`${path}: ${test.fullName}: ${why}`);
      } else counts = addCounts(counts, { ...NO_TESTS, skipped: 1 });
    }
    if (status === 'failed' && counts.failed === 0) {
      counts = addCounts(counts, { ...NO_TESTS, failed: 1 });
      failures.push(`${path}: ${first(message)}`);
    }
    return { path, counts, seconds: Math.max(0, endTime - startTime) / 1_000, failures };
  });
}

/**
 * Failures that no file shows: Jest died, failed as a whole, or left out a file.
 *
 * @param files files that the run was asked for. Default: whatever Jest has chosen
 */
export function runFailures(
  report: JestReport | undefined,
  files: readonly string[] = [],
  root = process.cwd(),
): string[] {
  if (!report) return ['Jest ended without a report'];
  const results = fileResults(report, root);
  const ran = new Set(results.map(({ path }) => path));
  const missing = files.filter((path) => !ran.has(path)).map((path) => `${path}: Jest did not run it`);
  const isUnexplained = !report.success && results.every(({ failures }) => failures.length === 0);
  return [...missing, ...(isUnexplained && missing.length === 0 ? ['Jest failed, and no test did'] : [])];
}

/** Lines with the slowest files and their seconds. */
export function slowest(results: readonly FileResult[], count = 10): string[] {
  return [...results]
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} ${path}`);
}

/** `N passed, N failed`, and `, N skipped` if some were. */
export function summary({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
}

/** The beginning of a message, as one line: with Jest's matchers, what was expected and what came. */
function first(message: string | null | undefined): string {
  return (
    (message ?? '')
      // eslint-disable-next-line no-control-regex
      .replace(/\u001b\[[0-9;]*m/g, '')
      .split('\n')
      .filter((line) => line.trim())
      .slice(0, 10)
      .join(' / ')
      .slice(0, 1_000)
  );
}
