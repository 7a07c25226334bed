/** Checks the table of suites against the repository. */
import { startsWithOneOf, suiteOf, type LeftOut, type Table } from './select.js';

export interface Sources {
  /** All paths of the repository. */
  paths: readonly string[];
  /** Rooms of the source, e.g. `engine`. */
  rooms: readonly string[];
}

const isTest = (path: string) => path.startsWith('test/') && path.endsWith('.test.ts');

/** The room of a source at depth two: `mcp-server/plain/` for `mcp-server/plain/wait.ts`, `engine/` for `engine/list/index.ts`. */
function roomOf(path: string): string {
  return `${path.split('/').slice(0, -1).slice(0, 2).join('/')}/`;
}

/** A line for each problem; none if the table fits the repository. */
export function tableProblems(table: Table, { paths, rooms }: Sources): string[] {
  const { suites, everything, shared, neutral, onPostgres } = table;
  const tests = paths.filter(isTest);
  const rows = new Map(tests.map((path) => [path, suiteOf(suites, path)]));
  const names = suites.map(({ name }) => name);
  const covers = [...everything, ...shared, ...suites.flatMap((suite) => suite.covers)];
  const named: [string, readonly string[]][] = [
    ['everything', everything],
    ['shared', shared],
    ['neutral', neutral],
    [onPostgres.name, [...onPostgres.covers, ...onPostgres.files]],
    ...suites.map((suite): [string, readonly string[]] => [suite.name, suite.covers]),
  ];
  const sources = paths.filter((path) => /\.[cm]?[jt]s$/.test(path) && rooms.includes(path.split('/')[0]!));
  const bare = new Set(sources.filter((path) => !startsWithOneOf(path, covers)).map(roomOf));
  return [
    ...tests.filter((path) => !rows.get(path)).map((path) => `${path} is in no row`),
    ...suites
      .filter((suite) => !tests.some((path) => rows.get(path) === suite))
      .map(({ name }) => `${name} has no test file`),
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${name} has two rows`),
    ...suites
      .filter(({ holds }) => holds.trim() === '')
      .map(({ name }) => `${name} does not say what it holds`),
    ...named.flatMap(([name, prefixes]) =>
      prefixes
        .filter((prefix) => !paths.some((path) => path.startsWith(prefix)))
        .map((prefix) => `${name} names ${prefix}, which does not exist`),
    ),
    ...[...bare].map((room) => `${room} is covered by no row`),
  ];
}

/** Suites that are left out without a reason. */
export function unexplained(leftOut: readonly LeftOut[]): string[] {
  return leftOut
    .filter(({ reason }) => reason.trim() === '')
    .map(({ suite }) => `${suite} is left out without a reason`);
}
