/** The engine in the bundle of workflows: there for those that have a pattern, and loaded by no others. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createContext, runInContext, Script } from 'node:vm';
import { expect, test } from '@jest/globals';
import { loadSettings } from '../../platform/settings/index.js';
import { bundleWorkflows } from '../../worker/versions/bundle.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { FIXTURES } from '../support/test-stack.js';

interface Bundle {
  importWorkflows(): Record<string, unknown>;
  importInterceptors(): unknown;
}

/** Evaluates what Temporal's sandbox does for a run of this type, but for the modules that all runs share. */
function evaluate(path: string, workflowType: string): { modules: () => string[] } {
  const context = createContext({
    TextEncoder,
    TextDecoder,
    URL,
    console,
    AbortController,
    __webpack_module_cache__: {},
  });
  new Script(readFileSync(path, 'utf8')).runInContext(context);
  const bundle = runInContext('__TEMPORAL__', context) as Bundle;
  bundle.importInterceptors();
  expect(bundle.importWorkflows()[workflowType]).toEqual(expect.anything());
  return { modules: () => Object.keys(runInContext('__webpack_module_cache__', context) as object) };
}

test('workflows without patterns do not load the engine', () => {
  const { modules } = evaluate(resolve('dist/workflow-bundle.js'), 'analyze_dataset');
  expect(modules()).toContainEqual(expect.stringContaining('operations/json-schema/'));
  expect(modules()).not.toContainEqual(expect.stringContaining('re2js'));
});

test('workflows that import definitions with patterns do not load it until they ask', async () => {
  const home = temporaryFolder('bundle');

  const settings = await loadSettings({ home, project: FIXTURES });
  const { codePath: path } = await bundleWorkflows(settings);
  expect(readFileSync(path, 'utf8')).toContain('node_modules/re2js');
  const { modules } = evaluate(path, 'ask_code');
  expect(modules()).toContainEqual(expect.stringContaining('tools/ask_code'));
  expect(modules()).not.toContainEqual(expect.stringContaining('re2js'));
});
