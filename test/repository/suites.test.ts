/** The table of suites fits the repository, and a change selects the suites that it touches. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { PROOF, proofFiles } from '../proof.js';
import { tableProblems, unexplained, type Sources } from '../runner/check-suites.js';
import { testFiles } from '../runner/import-graph.js';
import type { Record } from '../runner/record.js';
import { describeLeftOut, select, suiteOf, tableOf, type Table, type Tree } from '../runner/select.js';
import { CORE_FILES } from '../temporal-postgres/core-files.js';

const { rooms } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as { rooms: string[] };

test('the table of this repository has no problem', () => {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  const paths = listed.split('\n').filter((path) => path !== '' && existsSync(path));
  // The record is missing until there has been a whole run.
  expect(tableProblems(tableOf(CORE_FILES), { paths: [...paths, 'test/last-full-run.json'], rooms })).toEqual(
    [],
  );
});

test('the files of the proof exist, and each promise has one', () => {
  expect(PROOF.filter(({ files }) => files.length === 0)).toEqual([]);
  expect(proofFiles().filter((file) => !testFiles().includes(file))).toEqual([]);
});

const WAIT = 'test/plain/wait.test.ts';
const PLAIN_TOKENS = 'test/plain/tokens.test.ts';
const RUN = 'test/pipelines/run.test.ts';
const RUN_TOKENS = 'test/pipelines/tokens.test.ts';
const PARSE = 'test/pipelines/parse.test.ts';
const FILES = [WAIT, PLAIN_TOKENS, RUN, RUN_TOKENS, PARSE];

const PLAIN = { name: 'plain', tests: ['test/plain/'], holds: 'plain calls', covers: ['mcp-server/plain/'] };
const TOKENS = {
  ...{ name: 'tokens', tests: ['test/tokens/', 'test/plain/tokens'], holds: 'tokens' },
  covers: ['mcp-server/tokens/'],
};
const PIPELINES = {
  ...{ name: 'pipelines', tests: ['test/pipelines/'], holds: 'pipelines' },
  covers: ['mcp-server/plain/', 'mcp-server/tokens/', 'docs/pipelines.md'],
};
const TABLE: Table = {
  suites: [PLAIN, TOKENS, PIPELINES],
  everything: ['package.json'],
  shared: ['engine/'],
  neutral: ['bench/'],
  protocols: [{ room: 'mcp-server/tokens/', uses: /asyncTools/ }],
  onPostgres: { name: 'postgres', covers: ['engine/'], files: [WAIT] },
};

describe('a table', () => {
  const paths = [
    ...['package.json', 'bench/run.ts', 'docs/pipelines.md', 'engine/list/index.ts'],
    ...['mcp-server/plain/wait.ts', 'mcp-server/tokens/read.ts', ...FILES],
  ];
  const sources: Sources = { paths, rooms: ['engine', 'mcp-server'] };
  const plus = (path: string): Sources => ({ ...sources, paths: [...paths, path] });
  const withRow = (row: Partial<Table['suites'][number]>): Table => ({
    ...TABLE,
    suites: [PLAIN, { ...TOKENS, ...row }, PIPELINES],
  });

  test('that fits has no problem', () => expect(tableProblems(TABLE, sources)).toEqual([]));

  test.each<[string, Table, Sources, string]>([
    ['a suite without a row', TABLE, plus('test/new/a.test.ts'), 'test/new/a.test.ts is in no row'],
    ['a row without a suite', withRow({ tests: ['test/gone/'] }), sources, 'tokens has no test file'],
    ['a name of two rows', withRow({ name: 'plain' }), sources, 'plain has two rows'],
    ['a row that holds nothing', withRow({ holds: '' }), sources, 'tokens does not say what it holds'],
    [
      'a row that names a path that does not exist',
      withRow({ covers: ['mcp-server/gone/'] }),
      sources,
      'tokens names mcp-server/gone/, which does not exist',
    ],
    ['a room that no row covers', TABLE, plus('mcp-server/new/a.ts'), 'mcp-server/new/ is covered by no row'],
    ['a loose file that no row covers', TABLE, plus('mcp-server/a.ts'), 'mcp-server/ is covered by no row'],
  ])('%s is a problem', (_name, table, tree, problem) => {
    expect(tableProblems(table, tree)).toEqual([problem]);
  });

  test('gives a file to the row with the longest prefix', () => {
    expect([PLAIN_TOKENS, WAIT].map((path) => suiteOf(TABLE.suites, path)?.name)).toEqual([
      'tokens',
      'plain',
    ]);
  });
});

describe('a change', () => {
  const tree: Tree = {
    files: FILES,
    graph: new Map<string, string[]>([
      ...FILES.map((file): [string, string[]] => [file, file === PARSE ? ['pipelines/parse.ts'] : []]),
      ['pipelines/parse.ts', []],
    ]),
    fast: new Set([PARSE]),
    textOf: (file) => (file === RUN_TOKENS ? 'asyncTools' : ''),
  };
  const counts = { passed: 2, failed: 0, skipped: 1, seconds: 1 };
  const rows = (names: string[]) => Object.fromEntries(names.map((name) => [name, { ...counts }]));
  const record: Record = {
    ...{ commit: 'c0ffee0123', date: '2026-01-01T00:00:00.000Z', cores: 2, minutes: 70 },
    ...{ passed: 2, failed: 0, skipped: 1 },
    suites: rows(['plain', 'tokens', 'pipelines', 'postgres']),
    files: rows(FILES),
  };
  const selection = (changed: string[]) => select(TABLE, tree, { proof: [], record, changed });

  test.each<[what: string, path: string, files: string[]]>([
    [
      'a protocol: its suite, and files of others that speak it',
      'mcp-server/tokens/a.ts',
      [PLAIN_TOKENS, RUN_TOKENS],
    ],
    ['a room: the suites that exercise it', 'mcp-server/plain/a.ts', [WAIT, RUN, RUN_TOKENS, PARSE]],
    ['a module: the files that import it', 'pipelines/parse.ts', [PARSE]],
    ["a suite's own data: the suite", 'test/pipelines/steps.txt', [RUN, RUN_TOKENS, PARSE]],
    ['a document: the suites that read it', 'docs/pipelines.md', [RUN, RUN_TOKENS, PARSE]],
    ['another document: none', 'README.md', []],
    ['a neutral path: none', 'bench/results/new.json', []],
  ])('selects for %s', (_what, path, files) => {
    expect(selection([path])).toMatchObject({ files, onPostgres: false });
  });

  test('selects for what every process exercises all files that start processes, also on PostgreSQL', () => {
    const files = [WAIT, PLAIN_TOKENS, RUN, RUN_TOKENS];
    expect(selection(['engine/list/index.ts'])).toMatchObject({ files, onPostgres: true });
  });

  test.each<[everything: string, known: { record?: Record; changed?: string[] }]>([
    ['package.json has changed', { record, changed: ['package.json'] }],
    [
      'new-room/a.ts has changed, which no row of test/suites.ts covers',
      { record, changed: ['new-room/a.ts'] },
    ],
    ["the record's commit c0ffee01 is no ancestor of HEAD", { record }],
    ['there is no record of a whole run', { changed: [] }],
  ])('selects everything when %s', (everything, known) => {
    const all = { everything, files: FILES, onPostgres: true, leftOut: [] };
    expect(select(TABLE, tree, { proof: [], ...known })).toEqual(all);
  });

  test('selects the files that failed in the record, and those that it lacks', () => {
    const failed = structuredClone(record);
    failed.files[RUN]!.failed = 1;
    failed.suites['postgres']!.failed = 1;
    delete failed.files[WAIT];
    expect(select(TABLE, tree, { proof: [], record: failed, changed: [] })).toMatchObject({
      files: [WAIT, RUN],
      onPostgres: true,
    });
  });

  test('leaves every other suite out with a reason and its tests of the record', () => {
    const { files, leftOut } = select(TABLE, tree, { record, changed: [], proof: [RUN] });
    expect(files).toEqual([]);
    expect(leftOut.map(({ suite, files, tests }) => [suite, files, tests])).toEqual([
      ['plain', 1, 3],
      ['tokens', 1, 3],
      ['pipelines', 2, 6],
      ['postgres', 1, 3],
    ]);
    expect(unexplained(leftOut)).toEqual([]);
    expect(unexplained([{ ...leftOut[0]!, reason: '' }])).toEqual(['plain is left out without a reason']);
    expect(describeLeftOut(leftOut[2]!)).toBe(
      'left out pipelines (2 of 3 files, 6 tests): nothing it covers has changed since c0ffee01',
    );
  });
});
