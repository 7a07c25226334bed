/** The package as npm packs it, installed outside the checkout. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { PackedProject, run } from './packed.js';

const root = mkdtempSync(join(tmpdir(), 'longhaul-packed-'));
const ENTRIES = ['longhaul', 'longhaul/workflow', 'longhaul/activity', 'longhaul/server', 'longhaul/testing'];
/** A name that users import from each. */
const NAMES = ['defineTool', 'requestInput', 'saveArtifact', 'startServer', 'TestToolEnvironment'];
const OPTIONS = { target: 'es2023', types: [], strict: true, skipLibCheck: true, noEmit: true };

let packed: PackedProject;
beforeAll(async () => {
  packed = await PackedProject.create(root);
}, PROCESSES_MS);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const environment = () => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(LONGHAUL|TEMPORAL)_/.test(name));
  return { ...Object.fromEntries(inherited), NODE_OPTIONS: '', LONGHAUL_HOME: join(root, 'home') };
};

test('has no tests and no benchmarks, and no path of the machine that built it', () => {
  const files = readdirSync(packed.installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const names = files.map((path) => relative(packed.installed, path));
  expect(names).toEqual(
    expect.arrayContaining(['package.json', 'dist/bin/longhaul.js', 'dist/workflow-bundle.js']),
  );
  // Examples are sources to copy, with their tests.
  const own = names.filter((name) => !name.startsWith('examples/'));
  expect(own.filter((name) => /(^|\/)(test|bench)\/|\.test\.|(?<!\.d)\.ts$/.test(name))).toEqual([]);
  expect(names.filter((name) => /^examples\/.*\/(node_modules|\.longhaul|output)\//.test(name))).toEqual([]);
  const here = resolve('.');
  const naming = files.filter((path) => readFileSync(path, 'latin1').includes(here));
  expect(naming.map((path) => relative(packed.installed, path))).toEqual([]);
});

test('exports exactly its entries, and each can be imported by plain Node', async () => {
  const { exports } = JSON.parse(readFileSync(join(packed.installed, 'package.json'), 'utf8'));
  expect(Object.keys(exports).map((name) => name.replace(/^\./, 'longhaul'))).toEqual(ENTRIES);
  packed.write({
    'import.mjs': [
      `const names = ${JSON.stringify(NAMES)};`,
      `for (const [index, entry] of ${JSON.stringify(ENTRIES)}.entries())`,
      '  console.log(entry, typeof (await import(entry))[names[index]]);',
    ].join('\n'),
  });
  const { stdout } = await run(process.execPath, ['import.mjs'], { cwd: packed.folder, env: environment() });
  expect(stdout.trim().split('\n')).toEqual(ENTRIES.map((entry) => `${entry} function`));
});

test('has the command longhaul, which runs', async () => {
  const { bin, version } = JSON.parse(readFileSync(join(packed.installed, 'package.json'), 'utf8'));
  const command = join(packed.installed, bin.longhaul);
  expect(readFileSync(command, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  const { stdout } = await run(command, ['--version'], { cwd: packed.folder, env: environment() });
  expect(stdout.trim()).toBe(version);
});

test.each([
  ['node16', 'node16'],
  ['esnext', 'bundler'],
])(
  'its types resolve with module %s and moduleResolution %s',
  async (module, moduleResolution) => {
    const imports = ENTRIES.map((entry, index) => `import { ${NAMES[index]} } from '${entry}';`);
    packed.write({
      'types/uses.ts': [
        ...imports,
        "import tool from '../tools/compress_folder.js';",
        `export const all = [${NAMES.join(', ')}];`,
        'const environment = await TestToolEnvironment.create();',
        "const result = await environment.call(tool, { folder: '/var/log/app' });",
        'export const files: number = result.files;',
        '// @ts-expect-error There is no such argument.',
        'await environment.call(tool, { directory: 1 });',
        '// @ts-expect-error There is no such field.',
        'void result.bytes;',
        "export const unknown: unknown = await environment.call('compress_folder', { directory: 1 });",
      ].join('\n'),
      'tsconfig.types.json': JSON.stringify({
        compilerOptions: { ...OPTIONS, module, moduleResolution },
        files: ['types/uses.ts'],
      }),
    });
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', 'tsconfig.types.json'], {
      cwd: packed.folder,
    }).catch((error) => error);
    expect(stdout).toBe('');
  },
  PROCESSES_MS,
);

test("runs the page's test file as printed, and replays the history that it recorded", async () => {
  packed.link('jiti');
  const runTests = (flags: string[], variables: Record<string, string>) =>
    run(
      process.execPath,
      [
        '--import',
        'jiti/register',
        '--test',
        '--test-reporter',
        'tap',
        ...flags,
        'test/compress_folder.test.ts',
      ],
      {
        cwd: packed.folder,
        env: { ...environment(), TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS']!, ...variables },
      },
    ).catch((error) => error);
  const { stdout } = await runTests([], { RECORD: '1' });
  expect(stdout.match(/^not ok .*$/gm) ?? []).toEqual([]);
  expect(stdout).toMatch(/^# pass 6$/m);
  expect(readdirSync(join(packed.folder, 'test/histories'))).toEqual(['compress_folder.json']);

  // A step that comes earlier than it did.
  const path = 'workflows/compress_folder.ts';
  const text = readFileSync(join(packed.folder, path), 'utf8');
  packed.write({
    [path]: text.replace("  stage('list');\n", "  stage('list');\n  await removeFiles([]);\n"),
  });
  const changed = await runTests(['--test-name-pattern', 'replays'], {});
  expect(changed.stdout).toMatch(/^not ok \d+ - replays the history of an earlier version$/m);
  expect(changed.stdout).toContain('ReplayError');
}, 400_000);
