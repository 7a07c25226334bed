/** Bounds of what a model pays for the tools: docs/performance.md. */
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { forAllTests } from '../support/for-all-tests.js';
import { measureModelTokens } from '../support/model-tokens.js';
import { TestStack } from '../support/test-stack.js';

const parts = await forAllTests(
  TestStack.serverOnSharedWorker({ LONGHAUL_PIPELINE_FOLDERS: resolve('examples/pipelines') }),
);

test('tools, calls and polls stay within what a model should pay for them', async () => {
  const tokens = await measureModelTokens(parts.client);
  expect(tokens.listPlain).toBeLessThan(4_500);
  expect(tokens.listTasks).toBeLessThan(6_000);
  expect(tokens.instructions).toBeLessThan(400);
  expect(tokens.start).toBeLessThanOrEqual(175);
  expect(tokens.poll).toBeLessThan(60);
  expect(tokens.hourPlain).toBeLessThan(2_000);
  expect(tokens.hourTasks).toBeLessThan(300);
});
