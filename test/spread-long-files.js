/**
 * Order of the test files, by the seconds of the last whole run: new files first, then the others, the longest first. Files that take
 * minutes are spread from the beginning: most of their time they wait, for time-outs of the product or of Temporal, while the
 * others take the processors.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

const LONG_SECONDS = 120;
/** Number of other files between two long ones: three workers run about that many while one runs a long file. */
const BETWEEN = 8;
const RECORD = 'test/last-full-run.json';

/**
 * @param {readonly string[]} paths
 * @param {Record<string, { seconds: number }>} files
 */
export function spread(paths, files) {
  const seconds = (path) => files[path]?.seconds ?? Infinity;
  const sorted = paths.toSorted((a, b) => (seconds(a) === seconds(b) ? 0 : seconds(b) - seconds(a)));
  const isLong = (path) => seconds(path) > LONG_SECONDS && files[path] !== undefined;
  const others = sorted.filter((path) => !isLong(path));
  return [...sorted.filter(isLong).flatMap((path) => [path, ...others.splice(0, BETWEEN)]), ...others];
}

export default class SpreadLongFiles extends Sequencer {
  sort(tests) {
    const { files } = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : { files: {} };
    // Without a record: in Jest's order, failed and large files first.
    const byPath = new Map(super.sort(tests).map((test) => [relative(process.cwd(), test.path), test]));
    return spread([...byPath.keys()], files).map((path) => byPath.get(path));
  }
}
