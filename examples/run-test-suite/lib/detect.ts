/** Which test runners a folder is made for. */
import { join } from 'node:path';
import { filesUnder, textOf } from './files.js';
import type { Runner } from './types.js';

/** Files that `node --test` runs without arguments, beside those in folders named `test`. */
const NODE_TEST_NAMES = /(^|\/)(test|test-[^/]*|[^/]*[.\-_]test)\.[cm]?[jt]s$/;
const IN_TEST_FOLDER = /(^|\/)test\/.*\.[cm]?[jt]s$/;
const PYTHON_TESTS = /(^|\/)(test_[^/]*|[^/]*_test)\.py$/;
const PYTEST_SETTINGS = ['pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini'];

/** Test files read at most, to see whether they are made for node:test. */
const MOST_READ = 200;

/** @returns runners in the order of RUNNERS, each with what it was recognized by */
export async function detectRunners(folder: string): Promise<Map<Runner, string>> {
  const files = await filesUnder(folder);
  const text = (name: string) => (files.includes(name) ? textOf(join(folder, name)) : Promise.resolve(''));
  const found = new Map<Runner, string>();
  const manifest = await text('package.json');
  const { dependencies = {}, devDependencies = {}, scripts = {}, jest } = parse(manifest);
  for (const runner of ['jest', 'vitest'] as const) {
    const settings = files.find((file) => new RegExp(`^${runner}\\.config\\.[cm]?[jt]s(on)?$`).test(file));
    if (settings) found.set(runner, settings);
    else if (runner in { ...dependencies, ...devDependencies }) found.set(runner, 'package.json');
  }
  if (jest) found.set('jest', 'package.json');
  if (/\bnode\b.*--test\b/.test(scripts.test ?? '')) found.set('node', 'package.json');
  else {
    const example = await findNodeTest(folder, files);
    if (example) found.set('node', example);
  }
  const settings = await Promise.all(PYTEST_SETTINGS.map(text));
  const python =
    PYTEST_SETTINGS.find((_name, index) => /pytest/.test(settings[index]!)) ??
    files.find((file) => PYTHON_TESTS.test(file));
  if (python) found.set('pytest', python);
  if (files.includes('go.mod')) found.set('go', 'go.mod');
  if (files.includes('Cargo.toml')) found.set('cargo', 'Cargo.toml');
  return found;
}

/** Files that `node --test` would run. */
export async function nodeTestFiles(folder: string): Promise<string[]> {
  return (await filesUnder(folder)).filter(isNodeTest);
}

const isNodeTest = (file: string) => NODE_TEST_NAMES.test(file) || IN_TEST_FOLDER.test(file);

async function findNodeTest(folder: string, files: string[]): Promise<string | undefined> {
  for (const file of files.filter(isNodeTest).slice(0, MOST_READ))
    if (/['"]node:test['"]/.test(await textOf(join(folder, file)))) return file;
  return undefined;
}

interface Manifest {
  dependencies?: object;
  devDependencies?: object;
  scripts?: { test?: string };
  jest?: object;
}

function parse(manifest: string): Manifest {
  try {
    return (JSON.parse(manifest) ?? {}) as Manifest;
  } catch {
    return {};
  }
}
