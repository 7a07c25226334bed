/**
 * Order of the test files: those that take minutes first, so that none of them runs alone at the end, then as Jest orders them (failed
 * ones and slow ones first where it knows; else large files).
 */
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Files that take more than two minutes on two cores, the longest first. `.ci/run` prints them. */
const LONG = [
  'test/versioning/edits.test.ts',
  'test/hosts/partition.test.ts',
  'test/hosts/lost-host.test.ts',
  'test/core/history.test.ts',
  'test/pipelines/outage.test.ts',
  'test/pipelines/pages.test.ts',
  'test/hosts/return.test.ts',
  'test/core/cost.test.ts',
  'test/cli/client.test.ts',
  'test/pipelines/outlive.test.ts',
];

const rankOf = ({ path }) => {
  const rank = LONG.indexOf(relative(process.cwd(), path));
  return rank < 0 ? LONG.length : rank;
};

export default class LongestFirst extends Sequencer {
  sort(tests) {
    // The sort is stable.
    return super.sort(tests).sort((one, other) => rankOf(one) - rankOf(other));
  }
}
