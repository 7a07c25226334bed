/** Homes and versions of Node.js that can't be used: a line, no stack trace, and nothing done. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { nodeProblem } from '../../platform/home/package.js';
import { installNodeVersions } from '../node-versions/install.js';
import { STACK_MS } from '../support/limits.js';
import { freePort, TestHome } from './cli-process.js';

jest.setTimeout(STACK_MS);

const MAIN = resolve('dist/bin/longhaul.js');
const WRITING = ['up', 'stdio', 'server', 'worker', 'temporal'];
const READING = ['down', 'list', 'status x'];
const NOBODY = 65_534;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-homes-'));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'file'), '');
  symlinkSync('nowhere', join(folder, 'link'));
  for (const [name, mode] of [
    ['unwritable', 0o555],
    ['closed', 0o700],
  ] as const) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), mode);
  }
  mkdirSync(join(folder, 'read-only'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=1m', 'tmpfs', join(folder, 'read-only')]);
  if (mounted.status !== 0)
    throw new Error(`a file system of its own needs root: ${mounted.stderr.toString()}`);
});
afterAll(() => {
  spawnSync('umount', ['-l', join(folder, 'read-only')]);
  rmSync(folder, { recursive: true, force: true });
});

function run(words: string, home: string, { uid = 0, node = process.execPath, environment = {} } = {}) {
  const { status, stdout, stderr } = spawnSync(
    'setpriv',
    [`--reuid=${uid}`, '--clear-groups', node, MAIN, ...words.split(' ')],
    {
      cwd: '/',
      encoding: 'utf8',
      input: '',
      timeout: 150_000,
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', LONGHAUL_HOME: home, ...environment },
    },
  );
  return { status, stdout, stderr };
}

describe('a home that can not be used', () => {
  const cases: [path: string, uid: number, commands: string[], came: string][] = [
    ['file', 0, [...WRITING, ...READING], 'a file at FOLDER/file'],
    ['file/below', 0, ['up'], 'a file at FOLDER/file'],
    ['link', 0, ['up', 'list'], 'a link at FOLDER/link to nowhere, which is not there'],
    ['read-only', 0, ['up'], 'a read-only file system at FOLDER/read-only'],
    ['read-only/below', 0, ['up'], 'a read-only file system at FOLDER/read-only'],
    [
      'unwritable',
      NOBODY,
      ['up'],
      'no permission at FOLDER/unwritable (mode 0555, owner 0, this user 65534)',
    ],
    ['unwritable/below', NOBODY, ['up'], 'no permission at FOLDER/unwritable'],
    ['closed', NOBODY, ['up', 'list'], 'no permission at FOLDER/closed (mode 0700'],
    ['closed/below', NOBODY, ['up'], 'no permission at FOLDER/closed'],
  ];
  test.each(
    cases.flatMap(([path, uid, commands, came]) => commands.map((one) => [path, one, uid, came] as const)),
  )(
    '%s: %s says which, what was expected, what came and what to do, and ends with 2',
    (path, words, uid, came) => {
      const home = join(folder, path);
      const { status, stdout, stderr } = run(words, home, { uid });
      expect(stderr).toMatch(
        /^longhaul: home [^\n]*: expected a folder[^\n]*; got [^\n]*\. Name another [^\n]*\n$/,
      );
      expect(stderr).toContain(`home ${home}: `);
      expect(stderr).toContain(came.replace('FOLDER', folder));
      expect(stdout).toBe('');
      expect(status).toBe(2);
    },
  );

  test('/proc, where folders can not be made, ends at once', () => {
    const { status, stderr } = run('up', '/proc/longhaul');
    expect(stderr).toMatch(
      /^longhaul: home \/proc\/longhaul: expected a folder that can be made; got [^\n]*\n$/,
    );
    expect(status).toBe(2);
  });

  test('doctor has it as a finding among the others, and --json as a document', () => {
    const home = join(folder, 'file');
    const { status, stdout } = run('doctor', home);
    expect(stdout).toMatch(/^fail +home +home .*expected a folder; got a file/m);
    expect(stdout).toMatch(/^ok +node /m);
    expect(status).toBe(1);
    const asDocument = run('list --json', home);
    expect(JSON.parse(asDocument.stdout)).toMatchObject({ error: { exitCode: 2 } });
  });

  test('a file in it that can not be read is a line with its path', () => {
    const home = mkdtempSync(join(folder, 'theirs-'));
    writeFileSync(join(home, 'secret'), Buffer.alloc(32), { mode: 0o600 });
    chownSync(home, NOBODY, NOBODY);
    const { status, stderr } = run('up', home, { uid: NOBODY });
    expect(stderr).toMatch(/^longhaul: EACCES: permission denied, open '[^']*\/secret'\n$/);
    expect(status).toBe(1);
  });
});

test('a home of a newer Longhaul, and one with a damaged mark, are refused before anything else is done', () => {
  const home = mkdtempSync(join(folder, 'newer-'));
  const mark = '{"format": 99, "longhaul": "9.9.9"}';
  writeFileSync(join(home, 'longhaul.version'), mark);
  const newer = run('up', home);
  expect(newer.stderr).toMatch(
    /^longhaul: home [^\n]*: expected format 1 or lower; got format 99, written by Longhaul 9\.9\.9\. Run that version[^\n]*\n$/,
  );
  expect(newer.status).toBe(2);
  expect(readdirSync(home)).toEqual(['longhaul.version']);
  expect(readFileSync(join(home, 'longhaul.version'), 'utf8')).toBe(mark);
  expect(run('doctor', home).stdout).toMatch(/^fail +home .*format 99, written by Longhaul 9\.9\.9/m);

  writeFileSync(join(home, 'longhaul.version'), 'oops');
  const damaged = run('up', home);
  expect(damaged.stderr).toMatch(
    /^longhaul: .*longhaul\.version: expected \{"format": NUMBER.*; got "oops"\. .*delete this file\n$/,
  );
  expect(damaged.status).toBe(2);
});

test('a database of another Temporal is refused by up before anything is downloaded or built, and doctor says the same', async () => {
  const home = await TestHome.create();
  const requests: string[] = [];
  const proxy = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.writeHead(502).end();
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  try {
    const bin = join(home.path, 'bin');
    const goWas = join(home.path, 'go-was-run');
    mkdirSync(bin);
    writeFileSync(join(bin, 'go'), `#!/bin/sh\ntouch ${goWas}\nexit 1\n`, { mode: 0o755 });
    writeFileSync(join(home.path, 'temporal.db'), '');
    writeFileSync(join(home.path, 'temporal.version'), '{"server": "1.31.2", "line": ""}');
    const environment = {
      LONGHAUL_BIN_FOLDER: join(home.path, 'no-binaries'),
      PATH: `${bin}:/usr/bin:/bin`,
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    };
    const up = home.run(['up'], environment);
    expect(await up.ended).toBe(1);
    expect(up.stderr()).toMatch(
      /^longhaul: the database .*temporal\.db was made by Temporal server 1\.31\.2/,
    );
    expect(up.stderr()).toContain('move temporal.db* and temporal.version out of');
    expect(up.stderr()).not.toMatch(/Downloading|Building|^ +at /m);
    expect({ requests, isBuilt: existsSync(goWas) }).toEqual({ requests: [], isBuilt: false });
    const doctor = home.run(['doctor'], environment);
    await doctor.ended;
    expect(doctor.stdout()).toMatch(
      /^fail +temporal binary +database made by 1\.31\.2\n +-> put a temporal with/m,
    );
  } finally {
    proxy.close();
    await home.remove();
  }
});

describe('a Node.js that is too old', () => {
  test.each([
    ['18.20.8', true],
    ['20.18.9', true],
    ['20.19.0', false],
    ['22.0.0', false],
  ])('%s', (version, isOld) => {
    expect(nodeProblem(version) !== undefined).toBe(isOld);
  });

  test('gets one line, from every command', async () => {
    const { '16': node } = await installNodeVersions();
    for (const words of ['--version', 'up']) {
      const { status, stdout, stderr } = run(words, join(folder, 'unused'), {
        node,
        environment: { LONGHAUL_PORT: String(await freePort()) },
      });
      expect(stderr).toMatch(/^longhaul: expected Node\.js 20\.19 or newer; got 16\.\S+ \([^\n]*\n$/);
      expect(stdout).toBe('');
      expect(status).toBe(1);
    }
    expect(existsSync(join(folder, 'unused'))).toBe(false);
  }, 500_000);
});
