/** Defects planted in the engine: the harness finds each of them in a short run. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { buildProgram } from '../support/build-program.js';
import { STACK_MS } from '../support/limits.js';
import { chaos, type ChaosReport } from './chaos.js';
import { longhaul } from './targets/longhaul.js';
import type { Role } from './target.js';
import type { Check } from './violations.js';

jest.setTimeout(STACK_MS);

let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

interface Plant {
  /** File of `dist/`. */
  file: string;
  text: string;
  replacement: string;
  /** Kind of operations that the defect is looked for with. */
  role: Role;
  /** Checks that have to find it. */
  found: Check[];
}

/** A copy of `dist/` with the defect. @returns the script of its command line */
async function plant({ file, text, replacement }: Plant): Promise<string> {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-plant-'));
  cpSync('dist', join(folder, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'package.json', 'activities'])
    symlinkSync(resolve(name), join(folder, name));
  mkdirSync(join(folder, 'pipelines'));
  const path = join(folder, 'dist', file);
  const parts = readFileSync(path, 'utf8').split(text);
  if (parts.length !== 2) throw new Error(`${file} has this text ${parts.length - 1} times: ${text}`);
  writeFileSync(path, parts.join(replacement));
  await buildProgram(folder);
  return join(folder, 'dist/bin/longhaul.js');
}

/** The first answers reach the calm run. */
const LOST_ANSWER = `
    globalThis.answers = (globalThis.answers ?? 0) + 1;
    if (globalThis.answers > 1) return 'accepted';
`;

const PROGRESS_THAT_FALLS: Plant = {
  file: 'engine/read/progress.js',
  text: 'const progress = isBehind ? before.progress : now.progress;',
  replacement: 'const progress = now.progress && { ...now.progress, progress: now.progress.progress % 7 };',
  role: 'work',
  found: ['went back'],
};

const PLANTS: Record<string, Plant> = {
  'an answer that is acknowledged but not delivered': {
    file: 'engine/answer/index.js',
    text: 'const asked = record.inputRequests[input.key];',
    replacement: `const asked = record.inputRequests[input.key];${LOST_ANSWER}`,
    role: 'asks',
    found: ['lost answer'],
  },
  'a start that is made twice with one idempotency key': {
    file: 'engine/start/names.js',
    text: 'return tokenOfIdempotencyKey(principal, tool.name, options.idempotencyKey, secret);',
    replacement: 'return newToken();',
    role: 'work',
    found: ['started twice', 'not counted'],
  },
};

const OPERATIONS = 5;
const SEED = 1;

test.each(Object.entries(PLANTS))('finds %s', async (_name, planted) => {
  const target = longhaul(await plant(planted));
  const { probe, [planted.role]: tool } = target.tools;
  const { violations } = await chaos({
    target: { ...target, tools: { probe: probe!, [planted.role]: tool! } },
    ...{ operations: OPERATIONS, kills: 1, seed: SEED, faults: ['kill'] },
    settleMs: 30_000,
  });
  const found = violations.map(({ check }) => check);
  expect(found).toEqual(expect.arrayContaining(planted.found));
});

test('npm run chaos prints violations, and exits with 1', async () => {
  const program = await plant(PROGRESS_THAT_FALLS);
  const module = join(folder!, 'target.ts');
  const longhaulModule = JSON.stringify(resolve('test/chaos/targets/longhaul.ts'));
  writeFileSync(
    module,
    `import { longhaul } from ${longhaulModule};
    const { tools: { work, probe }, ...target } = longhaul(${JSON.stringify(program)});
    export default { ...target, tools: { work, probe } };`,
  );
  const json = join(folder!, 'run.json');
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
