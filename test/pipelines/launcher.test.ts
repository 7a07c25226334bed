/** The launcher by itself: what its scripts share with the worker, and what a step gets of it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { outputFile, prepareRun } from '../../worker/steps/journal.js';
import { startLauncher } from '../../worker/steps/launcher/index.js';
import {
  EXIT_RESERVE_FILE,
  FIRST_LAUNCHER_FILE,
  LAUNCHER_DESCRIPTOR,
} from '../../worker/steps/launcher/record.js';

const root = mkdtempSync(join(tmpdir(), 'longhaul-launcher-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SCRIPT = readFileSync('worker/steps/launcher/launcher.sh', 'utf8');

test('the worker knows the files and the descriptor of the launcher', () => {
  expect(SCRIPT).toContain(` 2>"$1/${FIRST_LAUNCHER_FILE}" ${LAUNCHER_DESCRIPTOR}>&2 || exit 1\n`);
  expect(SCRIPT).toContain(`>"$1/${EXIT_RESERVE_FILE}"`);
  expect(SCRIPT).toContain(`mv "$folder/${EXIT_RESERVE_FILE}" "$folder/exit.json"`);
  // Closed in every process that the launcher starts.
  const closed = SCRIPT.match(/5>&-.*/g)!;
  expect(closed.length).toBeGreaterThan(3);
  for (const redirections of closed) expect(redirections).toContain(`${LAUNCHER_DESCRIPTOR}>&-`);
});

test("a step's variables keep their values, whatever names the launcher's own have", async () => {
  const names = new Set(SCRIPT.match(/(?<=^|[ (])[a-z]+(?=\+?=)/gm));
  expect([...names]).toEqual(expect.arrayContaining(['folder', 'timeout', 'tools', 'ender']));
  const folder = join(root, 'run');
  const print = `for name in ${[...names].join(' ')}; do printf '%s=%s\\n' "$name" "\${!name}"; done`;
  await prepareRun(folder, `{ ${print}; } >"$OUT"`);
  const own = Object.fromEntries([...names].map((name) => [name, `own ${name}`]));
  const launcher = await startLauncher({
    folder,
    stepId: 'launcher-test',
    workingDirectory: root,
    environment: { PATH: process.env['PATH']!, OUT: outputFile(folder), ...own },
    bash: 'bash',
    tools: process.env['PATH']!,
    umask: '022',
    graceMs: 1_000,
    timeoutMs: undefined,
    endsWithWorker: false,
  });
  expect(await launcher.ended).toMatchObject({ exitCode: 0 });
  const printed = Object.fromEntries(
    readFileSync(outputFile(folder), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('=', 2) as [string, string]),
  );
  expect(printed).toEqual(own);
});
