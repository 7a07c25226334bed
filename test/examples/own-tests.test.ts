/** The examples of `examples/`, installed as a user has them, pass their own types and tests. */
import { jest, test } from '@jest/globals';
import { INSTALL_MS } from '../support/limits.js';
import { installExample, removeExample, runOwnTests } from './support.js';

jest.setTimeout(INSTALL_MS);

// The example onboard-vendor has a file of its own.
test.each([
  'migrate-repositories',
  'research-topic',
  'review-by-agents',
  'run-test-suite',
  'screen-molecules',
])('the types and tests of %s pass', async (name) => {
  const folder = await installExample(name);
  try {
    await runOwnTests(folder);
  } finally {
    removeExample(folder);
  }
});
