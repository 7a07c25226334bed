/** Build step: bundles the shipped workflows, unless no file of the last bundle, `dist/workflows` or `dist/worker` has changed. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CODE_ROOT } from '../../platform/code-root.js';

const BUNDLE = join(CODE_ROOT, 'workflow-bundle.js');
const INPUTS = join(CODE_ROOT, 'workflow-bundle.inputs.json');

/** Path -> time of the last change in milliseconds; undefined for a missing file. */
type Inputs = Record<string, number | undefined>;

function inputsOf(paths: readonly string[]): Inputs {
  return Object.fromEntries(paths.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.mtimeMs]));
}

function isUpToDate(): boolean {
  if (!existsSync(BUNDLE) || !existsSync(INPUTS)) return false;
  const before = JSON.parse(readFileSync(INPUTS, 'utf8')) as Inputs;
  const now = inputsOf([...Object.keys(before), ...sources()]);
  return JSON.stringify(now) === JSON.stringify(before);
}

function sources(): string[] {
  return ['workflows', 'worker'].flatMap((room) => {
    const folder = join(CODE_ROOT, room);
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js'))
      .map((path) => `${folder}/${path}`);
  });
}

if (!isUpToDate()) {
  const startedMs = Date.now();
  const { loadSettings } = await import('../../platform/settings/index.js');
  const { bundleShippedWorkflows } = await import('./bundle.js');
  const used = (await bundleShippedWorkflows(await loadSettings())).filter((path) =>
    statSync(path, { throwIfNoEntry: false })?.isFile(),
  );
  const inputs = inputsOf([...new Set([...used, ...sources()])]);
  // A file that changed during bundling may be missing from the bundle.
  const isWhole = Object.values(inputs).every((changedMs) => (changedMs ?? 0) < startedMs);
  if (isWhole) writeFileSync(INPUTS, JSON.stringify(inputs));
}
