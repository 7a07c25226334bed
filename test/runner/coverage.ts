/**
 * Lists the rooms of the source with functions that a suite's processes call and its row in test/suites.ts lacks.
 *
 *     npm run test:coverage -- SUITE...
 *
 * Functions count by NODE_V8_COVERAGE, which each process writes when it ends: a killed process writes nothing, and workflow code in
 * its sandbox isn't measured. What a bare start and stop calls is subtracted. Ends with 1 if a row lacks a room.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVERYTHING, SHARED, SUITES, type Suite } from '../suites.js';
import { isCovered, roomOf } from './check-suites.js';
import { importGraph, isFast, testFiles } from './import-graph.js';
import { jestEnvironment, JEST, run } from './run-jest.js';
import { suiteOf } from './select.js';
import { calledFunctions, type ProcessCoverage } from './v8-coverage.js';

/** Starts the run's server and worker, and calls nothing. */
const BARE = 'test/repository/shared-stack.test.ts';
const SHOWN = 5;

/** Functions that the processes of a run of Jest have called, as `engine/list/index.ts:12 listOperations`. */
async function called(files: readonly string[]): Promise<Set<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-coverage-'));
  try {
    const code = await run([...JEST, '--runTestsByPath', ...files], {
      ...jestEnvironment(),
      NODE_V8_COVERAGE: folder,
    });
    if (code !== 0) throw new Error(`the tests failed: ${files.join(' ')}`);
    const found = new Set<string>();
    for (const name of readdirSync(folder)) {
      const coverage = JSON.parse(readFileSync(join(folder, name), 'utf8')) as ProcessCoverage;
      for (const each of calledFunctions(coverage)) found.add(each);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Room -> functions beyond the row. */
function beyond(suite: Suite, functions: Iterable<string>): Map<string, string[]> {
  const covers = [...EVERYTHING, ...SHARED, ...suite.covers];
  const rooms = new Map<string, string[]>();
  for (const each of functions) {
    const path = each.slice(0, each.indexOf(':'));
    if (isCovered(path, covers)) continue;
    rooms.set(roomOf(path), [...(rooms.get(roomOf(path)) ?? []), each]);
  }
  return rooms;
}

async function main(names: readonly string[]): Promise<number> {
  const suites = names.map((name) => SUITES.find((suite) => suite.name === name));
  if (names.length === 0 || suites.includes(undefined)) {
    console.log(`npm run test:coverage -- SUITE...\n\nSuites: ${SUITES.map(({ name }) => name).join(' ')}`);
    return names.includes('--help') ? 0 : 2;
  }
  const files = testFiles();
  const graph = await importGraph(files);
  const bare = await called([BARE]);
  let isLacking = false;
  for (const suite of suites as Suite[]) {
    const mine = files.filter((file) => suiteOf(SUITES, file) === suite && !isFast(graph, file));
    const functions = mine.length > 0 ? await called(mine) : new Set<string>();
    const rooms = beyond(suite, [...functions].filter((each) => !bare.has(each)).sort());
    isLacking ||= rooms.size > 0;
    console.log(`${suite.name}: ${functions.size} functions called, ${rooms.size} rooms beyond its row`);
    for (const [room, found] of rooms) {
      const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
      console.log(`  ${room}: ${found.slice(0, SHOWN).join(', ')}${more}`);
    }
  }
  return isLacking ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
