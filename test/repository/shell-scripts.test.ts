/** The project's shell scripts, by shellcheck of Debian. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { unpackDebianPackages } from '../support/debian-packages.js';
import { INSTALL_LIMIT_MS } from '../support/install-once.js';

const SCRIPTS = execFileSync('git', ['ls-files', '*.sh', '.ci/run'], { encoding: 'utf8' }).trim().split('\n');

/** Functions that are called as arguments or by a trap count as unreachable, or as unused in newer versions. */
const FALSE_ALARMS = 'SC2317,SC2329';

let shellcheck: string;
const folders = (process.env['PATH'] ?? '').split(':');
const installed = folders.map((folder) => join(folder, 'shellcheck')).find((path) => existsSync(path));
const list = resolve('test/repository/debian-packages.txt');
beforeAll(async () => {
  shellcheck = installed ?? join(await unpackDebianPackages('shellcheck', list), 'usr/bin/shellcheck');
}, INSTALL_LIMIT_MS);

test('the scripts that steps run under are among them', () => {
  expect(SCRIPTS).toEqual(
    expect.arrayContaining(['worker/steps/launcher/launcher.sh', 'worker/steps/launcher/relay.sh']),
  );
});

test.each(SCRIPTS)('%s passes shellcheck', async (path) => {
  const problems = await new Promise<string>((done) =>
    execFile(shellcheck, ['--format=gcc', `--exclude=${FALSE_ALARMS}`, path], (error, stdout, stderr) =>
      done(error ? `${error.message}\n${stdout}${stderr}` : ''),
    ),
  );
  expect(problems).toBe('');
});
