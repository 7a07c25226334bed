/** The record of the last whole run, which is kept in the repository, and what git says of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Counts, FileResult } from './jest-report.js';
import { addCounts, NO_TESTS } from './jest-report.js';
import { suiteOf } from './select.js';
import type { Suite } from '../suites.js';

export const RECORD = 'test/last-full-run.json';

/** Tests and seconds, which add up over the files of a suite: several run at once. */
export interface Timed extends Counts {
  seconds: number;
}

export interface Record extends Counts {
  commit: string;
  /** ISO 8601. */
  date: string;
  cores: number;
  minutes: number;
  suites: { [name: string]: Timed };
  files: { [path: string]: Timed };
}

export function readRecord(path = RECORD): Record | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record) : undefined;
}

/** Adds the results of files up to their suites. */
export function makeRecord(
  suites: readonly Suite[],
  results: readonly FileResult[],
  postgres: { name: string; results: readonly FileResult[] },
  run: { commit: string; started: Date; ended: Date },
): Record {
  const add = (sum: Timed | undefined, { seconds, ...counts }: Timed): Timed => ({
    ...addCounts(sum ?? NO_TESTS, counts),
    seconds: Math.round(((sum?.seconds ?? 0) + seconds) * 10) / 10,
  });
  const record: Record = {
    commit: run.commit,
    date: run.started.toISOString(),
    cores: availableParallelism(),
    minutes: Math.round((run.ended.getTime() - run.started.getTime()) / 60_000),
    ...[...results, ...postgres.results].map(({ counts }) => counts).reduce(addCounts, NO_TESTS),
    suites: {},
    files: {},
  };
  for (const { path, counts, seconds } of [...results].sort((a, b) => a.path.localeCompare(b.path))) {
    const name = suiteOf(suites, path)?.name ?? path;
    record.files[path] = add(undefined, { ...counts, seconds });
    record.suites[name] = add(record.suites[name], { ...counts, seconds });
  }
  for (const { counts, seconds } of postgres.results)
    record.suites[postgres.name] = add(record.suites[postgres.name], { ...counts, seconds });
  return record;
}

/** One line a suite and a file: a diff shows the ones that have changed. */
export function formatRecord({ suites, files, ...head }: Record): string {
  const lines = (rows: object) =>
    Object.entries(rows)
      .map(([name, row]) => `    ${JSON.stringify(name)}: ${JSON.stringify(row)}`)
      .join(',\n');
  const top = Object.entries(head).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  );
  return `{\n${top.join('')}  "suites": {\n${lines(suites)}\n  },\n  "files": {\n${lines(files)}\n  }\n}\n`;
}

export function writeRecord(record: Record): void {
  writeFileSync(RECORD, formatRecord(record));
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

const lines = (text: string) => text.split('\n').filter(Boolean);

export const headCommit = (): string => git('rev-parse', 'HEAD');

/** Changed tracked files that no commit has. */
export const dirtyFiles = (): string[] => lines(git('diff', '--name-only', 'HEAD'));

/** Paths that differ between a commit and the work tree; undefined if the commit is unknown or no ancestor of HEAD. */
export function changedSince(commit: string): string[] | undefined {
  try {
    git('merge-base', '--is-ancestor', commit, 'HEAD');
    return [
      ...lines(git('diff', '--name-only', '--no-renames', commit)),
      ...lines(git('ls-files', '--others', '--exclude-standard')),
    ];
  } catch {
    return undefined;
  }
}

export const commitsSince = (commit: string): number => Number(git('rev-list', '--count', `${commit}..HEAD`));
