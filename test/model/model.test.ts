/**
 * Random sequences of calls over all protocols, compared with a model of the record.
 *
 * LONGHAUL_MODEL_SEED and LONGHAUL_MODEL_RUNS repeat a run and lengthen it.
 */
import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { afterAllTests } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { protocolClients } from '../support/protocols/index.js';
import { type Part, TestStack } from '../support/test-stack.js';
import type { WorkerControl } from './commands.js';
import { fitsModel } from './property.js';

const { LONGHAUL_MODEL_SEED, LONGHAUL_MODEL_RUNS } = process.env;
/** Number of sequences: about a minute. */
const runs = Number(LONGHAUL_MODEL_RUNS ?? 8);
/** Random, so that each run of the tests adds sequences: calls race with the work, so a fixed one would not repeat a run anyway. */
const seed = Number(LONGHAUL_MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Longest time for a run, with the shortening of a sequence that fails, in milliseconds. */
const limitMs = INSTALL_MS * Math.max(1, runs / 100);

jest.setTimeout(limitMs);

// Own stack: sequences stop and kill its worker.
const stack = await TestStack.start();
afterAllTests(() => stack.stop('SIGKILL'));
let [, part] = stack.parts as [Part, Part];

let isStopped = false;
const worker: WorkerControl = {
  async end(signal) {
    isStopped = signal === 'SIGSTOP';
    if (isStopped) part.process.kill(signal);
    else await part.end(signal);
  },
  begin() {
    if (isStopped) part.process.kill('SIGCONT');
    else part = stack.worker();
  },
};

test('no sequence of calls, over whichever protocols, contradicts the model of the record', async () => {
  const counts: Record<string, number> = {};
  const fromMs = Date.now();
  const property = fitsModel({ stack, clients: protocolClients(stack.base), worker, counts });
  const details = await fc.check(property, { seed, numRuns: runs, interruptAfterTimeLimit: 0.8 * limitMs });
  const seconds = Math.round((Date.now() - fromMs) / 1000);
  console.log(`seed ${seed}: ${details.numRuns} sequences in ${seconds} s, ${JSON.stringify(counts)}`);
  const failure = details.failed
    ? [fc.defaultReportMessage(details), details.errorInstance, (details.errorInstance as Error).cause]
    : [];
  expect(failure.map(String)).toEqual([]);
  expect(details.numRuns).toBe(runs);
});
