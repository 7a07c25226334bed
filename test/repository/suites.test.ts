/** The table of suites fits the repository, and a change selects the suites that it touches. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { PROOF, proofFiles } from '../proof.js';
import { tableProblems, unexplained, type Sources } from '../runner/check-suites.js';
import { importGraph, isFast, testFiles, textOf, type ImportGraph } from '../runner/import-graph.js';
import type { Record } from '../runner/record.js';
import { describeLeftOut, select, suiteOf, tableOf, type Table, type Tree } from '../runner/select.js';
import { CORE_FILES } from '../temporal-postgres/core-files.js';

const { rooms } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as { rooms: string[] };
const TABLE = tableOf(CORE_FILES);

describe('the table', () => {
  const made: Table = {
    suites: [
      { name: 'plain', tests: ['test/plain/'], holds: 'plain calls', covers: ['server/plain/'] },
      { name: 'tokens', tests: ['test/plain/tokens'], holds: 'tokens', covers: ['server/tokens/'] },
    ],
    everything: ['package.json'],
    shared: ['engine/'],
    neutral: ['bench/'],
    protocols: [],
    onPostgres: { name: 'postgres', covers: ['engine/'], files: ['test/plain/wait.test.ts'] },
  };
  const sources: Sources = {
    paths: [
      ...[
        'package.json',
        'bench/run.ts',
        'engine/list/index.ts',
        'server/plain/wait.ts',
        'server/tokens/read.ts',
      ],
      ...['test/plain/wait.test.ts', 'test/plain/tokens.test.ts'],
    ],
    rooms: ['engine', 'server'],
  };
  const plus = (...paths: string[]): Sources => ({ ...sources, paths: [...sources.paths, ...paths] });
  const withRow = (row: Partial<Table['suites'][number]>): Table => ({
    ...made,
    suites: [made.suites[0]!, { ...made.suites[1]!, ...row }],
  });

  test('of this repository has no problem', () => {
    const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
      encoding: 'utf8',
    })
      .split('\n')
      .filter((path) => path !== '' && existsSync(path));
    // The record is missing until there has been a whole run.
    expect(tableProblems(TABLE, { paths: [...paths, 'test/last-full-run.json'], rooms })).toEqual([]);
  });

  test('that fits has no problem', () => expect(tableProblems(made, sources)).toEqual([]));

  test.each<[string, Table, Sources, string]>([
    ['a suite without a row', made, plus('test/new/a.test.ts'), 'test/new/a.test.ts is in no row'],
    ['a row without a suite', withRow({ tests: ['test/gone/'] }), sources, 'tokens has no test file'],
    ['a name of two rows', withRow({ name: 'plain' }), sources, 'plain has two rows'],
    [
      'a row that does not say what it holds',
      withRow({ holds: '' }),
      sources,
      'tokens does not say what it holds',
    ],
    [
      'a row that names a path that does not exist',
      withRow({ covers: ['server/tokens/', 'server/gone/'] }),
      sources,
      'tokens names server/gone/, which does not exist',
    ],
    ['a room that no row covers', made, plus('server/new/a.ts'), 'server/new/ is covered by no row'],
    ['a loose file that no row covers', made, plus('server/a.ts'), 'server/ is covered by no row'],
  ])('%s is a problem', (_name, table, tree, problem) => {
    expect(tableProblems(table, tree)).toEqual([problem]);
  });

  test('a file belongs to the row with the longest prefix', () => {
    expect(suiteOf(made.suites, 'test/plain/tokens.test.ts')?.name).toBe('tokens');
    expect(suiteOf(made.suites, 'test/plain/wait.test.ts')?.name).toBe('plain');
  });
});

describe('a change', () => {
  let tree: Tree;
  let record: Record;
  beforeAll(async () => {
    const files = testFiles();
    const graph: ImportGraph = await importGraph(files);
    const fast = new Set(files.filter((file) => isFast(graph, file)));
    tree = { files, graph, fast, textOf: (file) => textOf(graph, file) };
    const counts = { passed: 2, failed: 0, skipped: 1, seconds: 1 };
    const rows = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, { ...counts }]));
    const suites = rows([...TABLE.suites.map(({ name }) => name), TABLE.onPostgres.name]);
    const run = { commit: 'c0ffee0123', date: '2026-01-01T00:00:00.000Z', cores: 2, minutes: 70 };
    record = { ...run, passed: 2, failed: 0, skipped: 1, suites, files: rows(files) };
  });
  const selection = (changed: string[] | undefined, known: Record | undefined = record) =>
    select(TABLE, tree, { proof: [], ...(known && { record: known }), ...(changed && { changed }) });
  const suites = (changed: string[]) => [
    ...new Set(selection(changed).files.map((file) => suiteOf(TABLE.suites, file)!.name)),
  ];

  test('of a protocol selects the suites that exercise it', () => {
    const selected = suites(['mcp-server/sep-1391/handlers.ts']);
    expect(selected).toEqual(expect.arrayContaining(['sep-1391', 'model', 'idempotency']));
    expect(selected).not.toEqual(expect.arrayContaining(['analyze_dataset']));
    expect(selected).not.toEqual(expect.arrayContaining(['deadline']));
  });

  test('of a protocol selects, of suites that cover others too, the files that speak it', () => {
    const files = selection(['mcp-server/sep-1391/handlers.ts']).files;
    expect(files).toEqual(
      expect.arrayContaining(['test/pipelines/cancelling.test.ts', 'test/sep-1391/sessions.test.ts']),
    );
    expect(files).toContain('test/foreign-clients/clients.test.ts');
    expect(files).not.toContain('test/pipelines/closed.test.ts');
    expect(files).not.toContain('test/core/cost.test.ts');
    expect(selection(['mcp-server/http-jobs/rendering/render.ts']).files).toContain(
      'test/fair/queue.test.ts',
    );
  });

  test('of a module selects the files that import it', () => {
    const { files } = selection(['activities/analyze_dataset/schema.ts']);
    expect(files).toContain('test/analyze_dataset/schema.test.ts');
    const fast = selection(['engine/list/visibility-budget.ts']).files.filter((file) => tree.fast.has(file));
    expect(fast).toContain('test/core/visibility-budget.test.ts');
    expect(fast).not.toContain('test/patterns/syntax.test.ts');
  });

  test('of a room that every process exercises selects all files that start processes', () => {
    const { files, onPostgres } = selection(['engine/list/index.ts']);
    const processes = tree.files.filter((file) => !tree.fast.has(file));
    expect(files).toEqual(expect.arrayContaining(processes));
    expect(onPostgres).toBe(true);
  });

  test("of a suite's own data selects the suite", () => {
    expect(suites(['test/external-workflows/odd/workflows.txt'])).toEqual(['external-workflows']);
    expect(suites(['test/estimates/fit.test.ts'])).toEqual(['estimates']);
  });

  test('of documents selects the suites that read them', () => {
    expect(suites(['test/chaos/README.md', 'test/last-full-run.json', 'bench/README.md'])).not.toContain(
      'core',
    );
    expect(suites(['docs/cost.md'])).toContain('core');
    expect(suites(['bench/results/new.json'])).not.toContain('auth');
  });

  test.each([
    ['operations/record.ts', 'operations/record.ts has changed'],
    ['package-lock.json', 'package-lock.json has changed'],
    ['test/support/mcp.ts', 'test/support/mcp.ts has changed'],
    ['new-room/a.ts', 'new-room/a.ts has changed, which no row of test/suites.ts covers'],
  ])('of %s selects everything', (path, reason) => {
    expect(selection([path])).toEqual({
      everything: reason,
      files: tree.files,
      onPostgres: true,
      leftOut: [],
    });
  });

  test('since an unknown commit, or without a record, selects everything', () => {
    expect(selection(undefined)).toMatchObject({
      everything: "the record's commit c0ffee01 is no ancestor of HEAD",
      files: tree.files,
    });
    const { everything, files } = select(TABLE, tree, { proof: [], changed: [] });
    expect([everything, files]).toEqual(['there is no record of a whole run', tree.files]);
  });

  test('selects the files that failed in the record, and those that it lacks', () => {
    const failed = structuredClone(record);
    failed.suites['fair']!.failed = 1;
    failed.files['test/fair/queue.test.ts']!.failed = 1;
    failed.suites[TABLE.onPostgres.name]!.failed = 1;
    delete failed.files['test/logs/lines.test.ts'];
    const { files, onPostgres } = selection([], failed);
    expect(files).toEqual(['test/fair/queue.test.ts', 'test/logs/lines.test.ts']);
    expect(onPostgres).toBe(true);
  });

  test('leaves every other suite out with a reason and its tests of the record', () => {
    const proof = ['test/fair/order.test.ts'];
    const { files, leftOut } = select(TABLE, tree, { record, changed: [], proof });
    expect(files).toEqual([]);
    const inProof = proof.length;
    expect(leftOut.reduce((sum, each) => sum + each.files, 0)).toBe(
      tree.files.length - inProof + CORE_FILES.length,
    );
    expect(leftOut.find(({ suite }) => suite === 'fair')).toEqual({
      suite: 'fair',
      files: 1,
      allFiles: 2,
      tests: 3,
      reason: 'nothing it covers has changed since c0ffee01',
    });
    expect(unexplained(leftOut)).toEqual([]);
    expect(unexplained([{ ...leftOut[0]!, reason: '' }])).toEqual([
      `${leftOut[0]!.suite} is left out without a reason`,
    ]);
    expect(describeLeftOut(leftOut.find(({ suite }) => suite === 'fair')!)).toBe(
      'left out fair (1 of 2 files, 3 tests): nothing it covers has changed since c0ffee01',
    );
  });
});

test('the files of the proof exist, and each promise has one', () => {
  expect(PROOF.filter(({ files }) => files.length === 0)).toEqual([]);
  expect(proofFiles().filter((file) => !testFiles().includes(file))).toEqual([]);
});
