/** Defects planted in the engine: the harness finds them in a short run. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/for-all-tests.js';
import { runTool } from '../support/run-tool.js';
import { chaos, type ChaosReport } from './chaos.js';
import { longhaul } from './targets/longhaul.js';

/** Folder of the latest plant. */
let folder: string;

interface Plant {
  /** File of `dist/`. */
  file: string;
  text: string;
  replacement: string;
}

/** A copy of `dist/` with the defect. @returns the script of its command line */
async function plant({ file, text, replacement }: Plant): Promise<string> {
  folder = temporaryFolder('plant');
  cpSync('dist', join(folder, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'package.json', 'worker'])
    symlinkSync(resolve(name), join(folder, name));
  mkdirSync(join(folder, 'pipelines'));
  const path = join(folder, 'dist', file);
  const parts = readFileSync(path, 'utf8').split(text);
  if (parts.length !== 2) throw new Error(`${file} has this text ${parts.length - 1} times: ${text}`);
  writeFileSync(path, parts.join(replacement));
  await runTool(process.execPath, [resolve('build-program.js')], folder);
  return join(folder, 'dist/bin/longhaul.js');
}

const OPERATIONS = 5;
const SEED = 1;

test('the harness finds a start that is made twice with one idempotency key', async () => {
  const program = await plant({
    file: 'engine/start/names.js',
    text: 'return tokenOfIdempotencyKey(principal, tool.name, options.idempotencyKey, secret);',
    replacement: 'return newToken();',
  });
  const target = longhaul(program);
  const { probe, work } = target.tools;
  const { violations } = await chaos({
    target: { ...target, tools: { probe: probe!, work: work! } },
    ...{ operations: OPERATIONS, kills: 1, seed: SEED, faults: ['kill'] },
    settleMs: 30_000,
  });
  const found = violations.map(({ check }) => check);
  expect(found).toEqual(expect.arrayContaining(['started twice', 'not counted']));
});

test('npm run chaos prints violations, and exits with 1', async () => {
  const program = await plant({
    file: 'engine/read/progress.js',
    text: 'const progress = isBehind ? before.progress : now.progress;',
    replacement: 'const progress = now.progress && { ...now.progress, progress: now.progress.progress % 7 };',
  });
  const module = join(folder, 'target.ts');
  const longhaulModule = JSON.stringify(resolve('test/chaos/targets/longhaul.ts'));
  writeFileSync(
    module,
    `import { longhaul } from ${longhaulModule};
    const { tools: { work, probe }, ...target } = longhaul(${JSON.stringify(program)});
    export default { ...target, tools: { work, probe } };`,
  );
  const json = join(folder, 'run.json');
  const options = { target: module, operations: OPERATIONS, kills: 1, seed: SEED, faults: 'kill', json };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--import', 'jiti/register', 'test/chaos/run.ts', ...args],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
  );
  expect(status).toBe(1);
  expect(stdout).toContain(`seed ${SEED}\n`);
  expect(stdout).toContain('VIOLATION went back: work-');
  const report = JSON.parse(readFileSync(json, 'utf8')) as ChaosReport;
  expect(stdout).toContain(`| violations | ${report.violations.length} |`);
  expect(report.violations.length).toBeGreaterThan(0);
});
