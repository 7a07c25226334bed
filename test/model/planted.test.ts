/** The model check finds defects: each of those that are planted into its clients. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { INSTALL_MS } from '../support/limits.js';
import { protocolClients } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';
import { fitsModel } from './property.js';
import { PLANTED, SHOWN_AS, withDefect } from './planted.js';

jest.setTimeout(INSTALL_MS);

/** Sequences within which a defect has to be found; most show in the first ones. */
const MOST_RUNS = 60;
/** A fixed one: the drawn sequences are the same in each run of the tests. */
const SEED = 1;

let stack: TestStack;
beforeAll(async () => {
  stack = await TestStack.shared();
});
afterAll(() => stack?.stop());

test.each(Object.entries(PLANTED))('%s is found', async (name, plant) => {
  const clients = withDefect(protocolClients(stack.base), plant);
  const { failed, errorInstance } = await fc.check(fitsModel({ stack, clients }), {
    seed: SEED,
    numRuns: MOST_RUNS,
    endOnFailure: true,
  });
  expect([failed, errorInstance]).toEqual([true, expect.objectContaining({ name: 'Violation' })]);
  expect((errorInstance as Error).message).toMatch(SHOWN_AS[name]!);
});
