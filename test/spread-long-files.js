/**
 * Order of the test files: those that take minutes at regular places from the beginning, so that none of them runs alone at the end, and
 * few of them at once: most of their time they wait, for time-outs of the product or of Temporal, while the others take the
 * processors. All others are in Jest's order (failed ones and slow ones first where it knows; else large files).
 */
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Files that take more than two minutes on two cores, the longest first. `.ci/run` prints them. */
const LONG = [
  'test/hosts/partition.test.ts',
  'test/hosts/lost-host.test.ts',
  'test/pipelines/outage.test.ts',
  'test/core/history.test.ts',
  'test/pipelines/pages.test.ts',
  'test/versioning/edits.test.ts',
  'test/pipelines/adopted.test.ts',
  'test/hosts/return.test.ts',
  'test/core/storage-sweep.test.ts',
  'test/core/cost.test.ts',
  'test/shutdown/worker.test.ts',
  'test/pipelines/outlive.test.ts',
  'test/pipelines/examples.test.ts',
  'test/stack/full-disk.test.ts',
  'test/testing/environment.test.ts',
  'test/chaos/plants.test.ts',
  'test/cli/replay.test.ts',
  'test/pipelines/cancelling.test.ts',
  'test/hosts/operator.test.ts',
  'test/stack/supervisor.test.ts',
  'test/foreign-clients/clients.test.ts',
  'test/deploy/commands.test.ts',
  'test/operation-tools/delete.test.ts',
];
/** Number of other files between two of them: three workers run about that many while one runs a long file. */
const BETWEEN = 8;

export default class SpreadLongFiles extends Sequencer {
  sort(tests) {
    const others = super.sort(tests);
    const long = LONG.flatMap((path) => {
      const index = others.findIndex((test) => relative(process.cwd(), test.path) === path);
      return index < 0 ? [] : others.splice(index, 1);
    });
    const order = long.flatMap((test) => [test, ...others.splice(0, BETWEEN)]);
    return [...order, ...others];
  }
}
