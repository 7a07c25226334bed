/**
 * Runs the tests in one of three tiers, and ends with `N passed, N failed` on the last line.
 *
 *     main.ts proof [ARGUMENTS]  the proof; with arguments of Jest that name files: these files
 *     main.ts changed [--checks] the proof, and what the change since the record touches; --checks: format, lint, types first
 *     main.ts all                everything, and writes the record
 *     main.ts fast [ARGUMENTS]   files that need neither Temporal nor a build, those that take long aside
 */
import { PROOF, proofFiles } from '../proof.js';
import { SUITES, type Need, type Suite } from '../suites.js';
import { CORE_FILES } from '../temporal-postgres/core-files.js';
import { fastFiles, importGraph, isFast, testFiles, textOf } from './import-graph.js';
import { addCounts, NO_TESTS, slowest, summary, type Counts, type FileResult } from './jest-report.js';
import {
  changedSince,
  commitsSince,
  dirtyFiles,
  headCommit,
  makeRecord,
  readRecord,
  RECORD,
  writeRecord,
  type Record,
} from './record.js';
import { chooseFiles, JEST, jestEnvironment, run, runJest, type JestRun } from './run-jest.js';
import { describeLeftOut, select, suiteOf, tableOf, type Selection } from './select.js';

/** Files that `npm run test:fast` leaves out unless they are named. */
const FAST_SECONDS = 10;
const TYPESCRIPT = [process.execPath, '--import', 'jiti/register'];
const NPM = ['npm', 'run', '-s'];

/** Counts of checks and tests so far, and a line for each failure. */
let total: Counts = NO_TESTS;
/** Whether a run of Jest has not given all results that it should. */
let isIncomplete = false;
const failures: string[] = [];

async function check(name: string, command: readonly string[]): Promise<void> {
  console.log(`== ${name}`);
  const isPassed = (await run(command).catch(() => 1)) === 0;
  total = addCounts(total, { ...NO_TESTS, [isPassed ? 'passed' : 'failed']: 1 });
  if (!isPassed) failures.push(name);
}

async function tests(name: string, start: () => Promise<JestRun>): Promise<FileResult[]> {
  console.log(`== ${name}`);
  const { results, failures: others } = await start();
  for (const { counts } of results) total = addCounts(total, counts);
  total = addCounts(total, { ...NO_TESTS, failed: others.length });
  isIncomplete ||= others.length > 0;
  failures.push(...others.map((line) => `${name}: ${line}`), ...results.flatMap((result) => result.failures));
  console.log(`== slowest files of ${name}, in seconds`);
  for (const line of slowest(results)) console.log(line);
  return results;
}

/** Prints the failures and the counts. @returns the exit code */
function finish(skipped = 0): number {
  for (const line of failures) console.log(`FAILED ${line}`);
  total = addCounts(total, { ...NO_TESTS, skipped });
  console.log(summary(total));
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

async function runProof(args: readonly string[] = []): Promise<FileResult[]> {
  return tests(`proof of ${PROOF.length} promises`, () => runJest(args, { files: proofFiles() }));
}

/** Runs files: those of suites that run alone after the others. */
async function runRest(files: readonly string[], onPostgres: boolean): Promise<[FileResult[], FileResult[]]> {
  const rowOf = (file: string): Suite | undefined => suiteOf(SUITES, file);
  const needs = new Set<Need>(files.flatMap((file) => rowOf(file)?.needs ?? []));
  if (onPostgres) needs.add('postgres');
  if (needs.delete('postgres'))
    await check('PostgreSQL and the server of Temporal', [
      ...TYPESCRIPT,
      'test/temporal-postgres/prepare.ts',
    ]);
  if (needs.size > 0)
    await check('workers in other languages', [
      ...TYPESCRIPT,
      'test/external-workflows/prepare.ts',
      ...needs,
    ]);
  const results: FileResult[] = [];
  const together = files.filter((file) => !rowOf(file)?.alone);
  if (together.length > 0) results.push(...(await tests('tests', () => runJest([], { files: together }))));
  for (const { name } of SUITES.filter(({ alone }) => alone)) {
    const mine = files.filter((file) => rowOf(file)?.name === name);
    if (mine.length > 0)
      results.push(...(await tests(name, () => runJest(['--maxWorkers=2'], { files: mine }))));
  }
  if (!onPostgres) return [results, []];
  const command = [...TYPESCRIPT, 'test/temporal-postgres/run.ts'];
  return [results, await tests('core on PostgreSQL', () => runJest([], { command }))];
}

async function runChecks(): Promise<void> {
  await check('format', [...NPM, 'format:check']);
  await check('lint', [...NPM, 'lint']);
  await check('types', [...NPM, 'types']);
  await check('layers', [...NPM, 'layers']);
  await check('lockfile', [
    ...['sh', '-c'],
    '! grep -lE "\\"resolved\\": \\"https?://" $(git ls-files "*package-lock.json")',
  ]);
}

function describeRecord(
  { commit, date, passed, failed, minutes, cores }: Record,
  changed?: string[],
): string {
  const days = Math.floor((Date.now() - Date.parse(date)) / 86_400_000);
  const commits = changed ? `${commitsSince(commit)} commits and ` : '';
  return `the last whole run was ${commits}${days} days ago: ${passed} passed, ${failed} failed in ${minutes} minutes on ${cores} cores`;
}

async function selectChanged(): Promise<Selection> {
  const record = readRecord();
  const changed = record && changedSince(record.commit);
  if (record) console.log(describeRecord(record, changed));
  const files = testFiles();
  const graph = await importGraph(files);
  const fast = new Set(files.filter((file) => isFast(graph, file)));
  const change = { proof: proofFiles(), ...(record && { record }), ...(changed && { changed }) };
  const tree = { files, graph, fast, textOf: (file: string) => textOf(graph, file) };
  const selection = select(tableOf(CORE_FILES), tree, change);
  if (selection.everything) console.log(`everything runs: ${selection.everything}`);
  return selection;
}

async function runChanged(args: readonly string[]): Promise<number> {
  if (args.includes('--checks')) await runChecks();
  const { files, onPostgres, leftOut } = await selectChanged();
  await runProof();
  await runRest(files, onPostgres);
  for (const each of leftOut) console.log(describeLeftOut(each));
  return finish(leftOut.reduce((sum, each) => sum + each.tests, 0));
}

async function runAll(): Promise<number> {
  const started = new Date();
  const commit = headCommit();
  const isWritten = () => {
    const dirty = dirtyFiles().filter((path) => path !== RECORD);
    if (dirty.length > 0) console.log(`no record is written: ${dirty.join(', ')} differ from the commit`);
    else if (isIncomplete) console.log('no record is written: a run of Jest is incomplete');
    else if (headCommit() !== commit) console.log('no record is written: HEAD has moved');
    else return true;
    return false;
  };
  isWritten();
  const [results, postgres] = await runRest(testFiles(), true);
  if (isWritten())
    writeRecord(
      makeRecord(
        SUITES,
        results,
        { name: 'core on PostgreSQL', results: postgres },
        { commit, started, ended: new Date() },
      ),
    );
  return finish();
}

async function runFast(args: readonly string[]): Promise<number> {
  // Last: the option takes all words that follow it.
  const jest = (more: readonly string[]) =>
    run([...JEST, ...args, ...more, '--selectProjects', 'fast'], jestEnvironment());
  if (chooseFiles(args)) return jest([]);
  const record = readRecord();
  const isLong = (file: string) => (record?.files[file]?.seconds ?? 0) > FAST_SECONDS;
  const files = await fastFiles();
  const long = files.filter(isLong);
  if (long.length > 0) console.log(`left out, longer than ${FAST_SECONDS} s: ${long.join(' ')}`);
  return jest(['--runTestsByPath', ...files.filter((file) => !isLong(file))]);
}

async function main([tier, ...args]: string[]): Promise<number> {
  if (tier === 'fast') return runFast(args);
  await check('build', [...NPM, 'build']);
  if (total.failed > 0) return finish();
  if (tier === 'changed') return runChanged(args);
  if (tier === 'all') return runAll();
  if (chooseFiles(args)) return run([...JEST, ...args], jestEnvironment());
  await runProof(args);
  return finish();
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error);
  total = addCounts(total, { ...NO_TESTS, failed: 1 });
  failures.push(`the runner: ${(error as Error).message}`);
  process.exitCode = finish();
}
