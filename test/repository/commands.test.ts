/** Every command of CONTRIBUTING.md is run: here, or where WHERE says. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/** Command -> file that runs it, and the text by which that file does. */
const WHERE: Record<string, [file: string, text: string]> = {
  'npm ci': ['.ci/run', 'npm ci ||'],
  'npm run dev': ['test/repository/dev.test.ts', "spawn(process.execPath, ['dev.js']"],
  'npm test': ['test/runner/main.ts', 'await runProof()'],
  'npm run test:changed': ['.ci/run', 'npm run -s test:changed'],
  'npm run test:all': ['package.json', '"test:all": "node --import jiti/register test/runner/main.ts all"'],
  'npm run types': ['test/runner/main.ts', "check('types', [...NPM, 'types'])"],
  'npm run lint': ['test/runner/main.ts', "check('lint', [...NPM, 'lint'])"],
  'bash .ci/run': ['.github/workflows/ci.yml', 'run: bash .ci/run'],
  'npm run build': ['test/runner/main.ts', "check('build', [...NPM, 'build'])"],
  'node dist/bin/longhaul.js temporal': ['test/temporal/outage.test.ts', "home.run(['temporal'])"],
  'node dist/bin/longhaul.js server': ['test/support/test-stack.ts', "this.run('server'"],
  'LONGHAUL_RECORD=1 npm test -- test/histories/record.test.ts': [
    'test/histories/kept.ts',
    "['LONGHAUL_RECORD']",
  ],
  'npm run layers': ['test/runner/main.ts', "check('layers', [...NPM, 'layers'])"],
  'npx prettier --write CONTRIBUTING.md': ['package.json', '"format:check": "prettier --check .'],
};

/** Command -> what is run here in its place, where the command would take long or not end. */
const HERE: Record<string, string> = {
  'npm run test:fast': 'npm run test:fast -- test/engine/progress-digits.test.ts',
  'node --inspect dist/bin/longhaul.js worker --log-level debug':
    'node --inspect=127.0.0.1:0 dist/bin/longhaul.js worker --log-level debug --help',
};

/** Runs of a test file that the other tests are among. */
const FILE = /^npm test -- (test\/\S+\.test\.ts)( -t \S+)?$/;

const commands = [...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block]) => block!.trim().split('\n'))
  .map((line) => line.replace(/\s+#.*$/, ''));

test('every command is run, and nothing else is listed', () => {
  const others = commands.filter((command) => !FILE.test(command));
  expect(others.sort()).toEqual([...Object.keys(WHERE), ...Object.keys(HERE)].sort());
});

test('the test files of commands exist', () => {
  const files = commands.flatMap((command) => FILE.exec(command)?.[1] ?? []);
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

test.each(Object.entries(WHERE))('%s', (_command, [file, text]) => {
  expect(readFileSync(file, 'utf8')).toContain(text);
});

test.each(Object.entries(HERE))('%s, run', (_command, inItsPlace) => {
  const [program, ...args] = inItsPlace.split(' ');
  const { status, stdout, stderr } = spawnSync(program!, args, { encoding: 'utf8' });
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
});
