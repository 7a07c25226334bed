/** The fast project of jest.config.js needs no Temporal, and can't reach one. */
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { isFast } from '../runner/import-graph.js';

const graph = new Map([
  ['test/a.test.ts', ['test/support/a.ts', 'engine/a.ts']],
  ['test/b.test.ts', ['test/support/b.ts']],
  ['test/built.test.ts', []],
  ['test/support/a.ts', ['node:fs']],
  ['test/support/b.ts', ['test/support/test-stack.ts']],
  ['test/support/test-stack.ts', []],
  ['engine/a.ts', ['@temporalio/worker']],
]);
// Joined, since the rule reads this file too.
const built = ['dist', 'bin/longhaul.js'].join('/');
const read = (path: string) => (path === 'test/built.test.ts' ? built : '');

test.each([
  ['that imports only code', 'test/a.test.ts', true],
  ['with a module that starts processes', 'test/b.test.ts', false],
  ['that runs built code', 'test/built.test.ts', false],
])('a file %s is fast or not', (_name, file, fast) => {
  expect(isFast(graph, file, read)).toBe(fast);
});

test('nothing listens where the environment of fast tests names a Temporal', async () => {
  const [host, port] = process.env['TEMPORAL_ADDRESS']!.split(':');
  const outcome = await new Promise<string>((resolve) => {
    connect({ host: host!, port: Number(port) })
      .once('connect', () => resolve('connected'))
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
  });
  expect(outcome).toBe('ECONNREFUSED');
});
