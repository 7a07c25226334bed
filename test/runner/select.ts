/** Chooses the test files that a change touches. */
import { EVERYTHING, NEUTRAL, ON_POSTGRES, PROTOCOL_USE, SHARED, SUITES, type Suite } from '../suites.js';
import { closureOf, reversed, type ImportGraph } from './import-graph.js';
import type { Record } from './record.js';

export interface Table {
  suites: readonly Suite[];
  everything: readonly string[];
  shared: readonly string[];
  neutral: readonly string[];
  protocols: typeof PROTOCOL_USE;
  onPostgres: { name: string; covers: readonly string[]; files: readonly string[] };
}

/** @param postgresFiles files that run on PostgreSQL */
export const tableOf = (postgresFiles: readonly string[]): Table => ({
  suites: SUITES,
  everything: EVERYTHING,
  shared: SHARED,
  neutral: NEUTRAL,
  protocols: PROTOCOL_USE,
  onPostgres: { ...ON_POSTGRES, files: postgresFiles },
});

export interface Tree {
  /** All test files. */
  files: readonly string[];
  graph: ImportGraph;
  /** Test files that start no processes. */
  fast: ReadonlySet<string>;
  /** Text of a test file, with that of the files beside it that it imports. */
  textOf: (file: string) => string;
}

export interface LeftOut {
  suite: string;
  /** Files that are left out, and all files of the suite. */
  files: number;
  allFiles: number;
  /** Tests of these files in the record. */
  tests: number;
  reason: string;
}

export interface Selection {
  /** Why everything runs. */
  everything?: string;
  /** Files to run, the proof's aside. */
  files: string[];
  onPostgres: boolean;
  leftOut: LeftOut[];
}

/** The suite with the longest prefix of a path. */
export function suiteOf<T extends { tests: readonly string[] }>(
  suites: readonly T[],
  path: string,
): T | undefined {
  let best: T | undefined;
  let longest = -1;
  for (const suite of suites)
    for (const prefix of suite.tests)
      if (prefix.length > longest && path.startsWith(prefix)) {
        best = suite;
        longest = prefix.length;
      }
  return best;
}

export const startsWithOneOf = (path: string, prefixes: readonly string[]) =>
  prefixes.some((prefix) => path.startsWith(prefix));

/**
 * @param changed paths that have changed since the record; undefined if its commit is unknown
 * @param proof files that run in any case
 */
export function select(
  table: Table,
  { files, graph, fast, textOf }: Tree,
  { record, changed, proof }: { record?: Record; changed?: readonly string[]; proof: readonly string[] },
): Selection {
  const rest = files.filter((file) => !proof.includes(file));
  const all = (everything: string): Selection => ({ everything, files: rest, onPostgres: true, leftOut: [] });
  if (!record) return all('there is no record of a whole run');
  if (!changed) return all(`the record's commit ${record.commit.slice(0, 8)} is no ancestor of HEAD`);

  const importersOf = reversed(graph);
  const touched = new Set<string>();
  const touch = (some: readonly string[]) => some.forEach((file) => touched.add(file));
  const rows = new Map(files.map((file) => [file, suiteOf(table.suites, file)]));
  const filesOf = (suite: Suite) => files.filter((file) => rows.get(file) === suite);
  /** Files of a suite that covers a path: those that speak its protocol, if it is of one. */
  const exercising = (suite: Suite, path: string) => {
    const protocol = table.protocols.find(({ room }) => path.startsWith(room));
    const isWhole = !protocol || suite.foreign || suite.tests.includes(testsOfRoom(protocol.room));
    return isWhole ? filesOf(suite) : filesOf(suite).filter((file) => protocol.uses.test(textOf(file)));
  };
  for (const path of changed) {
    if (startsWithOneOf(path, table.everything)) return all(`${path} has changed`);
    const reached = closureOf(importersOf, path);
    const importers = files.filter((file) => reached.has(file));
    const covering = table.suites.filter(
      ({ covers, tests }) =>
        startsWithOneOf(path, covers) ||
        // Data and programs of the suite's own.
        (importers.length === 0 && tests.some((prefix) => path.startsWith(folderOf(prefix)))),
    );
    const isShared = startsWithOneOf(path, table.shared);
    touch(importers);
    covering.forEach((suite) => touch(exercising(suite, path)));
    if (isShared) touch(files.filter((file) => !fast.has(file)));
    const isKnown =
      importers.length > 0 ||
      covering.length > 0 ||
      isShared ||
      path.endsWith('.md') ||
      startsWithOneOf(path, [...table.neutral, ...table.onPostgres.covers]);
    if (!isKnown) return all(`${path} has changed, which no row of test/suites.ts covers`);
  }
  const { onPostgres } = table;
  const hasFailed = (counts: { failed: number } | undefined) => counts === undefined || counts.failed > 0;
  const chosen = rest.filter(
    (file) => touched.has(file) || hasFailed(record.files[file]) || rows.get(file) === undefined,
  );
  const runsOnPostgres =
    hasFailed(record.suites[onPostgres.name]) ||
    changed.some((path) => startsWithOneOf(path, [...onPostgres.covers, ...onPostgres.files]));
  const since = `nothing it covers has changed since ${record.commit.slice(0, 8)}`;
  const testsOf = ({ passed, failed, skipped }: Record['files'][string]) => passed + failed + skipped;
  const leftOut = table.suites.flatMap((suite): LeftOut[] => {
    const mine = filesOf(suite);
    const out = mine.filter((file) => rest.includes(file) && !chosen.includes(file));
    if (out.length === 0) return [];
    const tests = out.reduce((sum, file) => sum + testsOf(record.files[file]!), 0);
    return [{ suite: suite.name, files: out.length, allFiles: mine.length, tests, reason: since }];
  });
  if (!runsOnPostgres) {
    const { length } = onPostgres.files;
    const tests = testsOf(record.suites[onPostgres.name]!);
    leftOut.push({ suite: onPostgres.name, files: length, allFiles: length, tests, reason: since });
  }
  return { files: chosen, onPostgres: runsOnPostgres, leftOut };
}

/** The folder of the tests of a protocol's room: `test/plain/` for `mcp-server/plain/`. */
function testsOfRoom(room: string): string {
  return room.replace(/^mcp-server\//, 'test/');
}

/** The folder of a prefix of test files: `test/engine/` for `test/engine/tokens`. */
function folderOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1);
}

/** The line about a suite that is left out. */
export function describeLeftOut({ suite, files, allFiles, tests, reason }: LeftOut): string {
  const some = files === allFiles ? `${files} files` : `${files} of ${allFiles} files`;
  return `left out ${suite} (${some}, ${tests} tests): ${reason}`;
}
