/** Settings that undo each other: server and worker refuse them, and doctor names them. */
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { loadSettings, type SettingName } from '../../platform/settings/index.js';
import { assertServable, assertWorkable, settingConflicts } from '../../platform/settings/conflicts.js';
import { readText } from '../stack/cli-process.js';
import { run } from '../cli/commands.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { acceptTokens } from './token-sources.js';

let root: string;
beforeEach(() => {
  root = realpathSync(temporaryFolder('conflicts'));
  // Others reach what is in it, as in /srv.
  chmodSync(root, 0o755);
});
afterEach(() => {
  delete process.env['LONGHAUL_SECRET'];
});

type Flags = Partial<Record<SettingName, unknown>>;

/** Settings of a process in the folder `project`. */
async function settingsOf(flags: Flags) {
  mkdirSync(join(root, 'project'), { recursive: true });
  return loadSettings({ home: '../home', ...flags }, {}, join(root, 'project'));
}

async function conflictsOf(flags: Flags): Promise<string[]> {
  return settingConflicts(await settingsOf(flags));
}

describe('data folders and private paths', () => {
  test.each<[string, Flags, SettingName, string]>([
    ['the home', { dataFolders: '..' }, 'home', 'home'],
    ['a home below', { dataFolders: '..', home: '../a/b/c' }, 'home', 'a/b/c'],
    ['the root of all', { dataFolders: '/' }, 'home', 'home'],
    ['the home by dots', { dataFolders: '../data/../home/..' }, 'home', 'home'],
    ['the keys folder', { dataFolders: '../data', keysFolder: '../data/keys' }, 'keysFolder', 'data/keys'],
    ['the audit log', { dataFolders: '../data', auditLog: '../data/audit' }, 'auditLog', 'data/audit'],
    ['the key of TLS', { dataFolders: '../data', tlsKey: '../data/key.pem' }, 'tlsKey', 'data/key.pem'],
  ])('a data folder around %s is refused, with both values', async (_what, flags, name, path) => {
    const [conflict, ...more] = (await conflictsOf(flags)).filter((each) => each.includes('--data-folders'));
    const { dataFolders } = await settingsOf(flags);
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    expect(conflict).toBe(
      `--data-folders ${dataFolders[0]}: expected folders without ${flag} ${join(root, path)}, since callers read files ` +
        'there. Name a folder beside it, or move it',
    );
    expect(more).toEqual([]);
  });

  test('a data folder around a secret of the token sources is refused, for workers too', async () => {
    const source = {
      issuer: 'https://login.example.com',
      audience: 'https://longhaul.example.com/mcp',
      introspection: { 'client-id': 'longhaul', 'secret-file': 'data/secret' },
    };
    const { LONGHAUL_TOKEN_SOURCES: tokenSources } = acceptTokens(root, source);
    const settings = await settingsOf({ dataFolders: '../data', tokenSources });
    expect(() => assertWorkable(settings)).toThrow(
      `--data-folders ${root}/data: expected folders without --token-sources ${root}/data/secret`,
    );
  });

  test.each<[string, Flags, string]>([
    ['the home', { dataFolders: '../home' }, '--home'],
    ['a folder in the home', { dataFolders: '../home/storage/files' }, '--home'],
    ['a folder in the keys folder', { dataFolders: '../keys/data', keysFolder: '../keys' }, '--keys-folder'],
    ['the audit log', { dataFolders: '../audit', auditLog: '../audit' }, '--audit-log'],
    ['one of several', { dataFolders: '../data:../home/logs' }, '--home'],
  ])('%s as a data folder is refused', async (_what, flags, flag) => {
    expect(await conflictsOf(flags)).toEqual([
      expect.stringMatching(
        new RegExp(`^--data-folders ${root}/\\S+: expected a folder outside of ${flag} ${root}/`),
      ),
    ]);
  });

  test('links are followed: of the data folder, of the home, of its storage, and of what is not there yet', async () => {
    mkdirSync(join(root, 'home'));
    symlinkSync(root, join(root, 'to-all'));
    expect(await conflictsOf({ dataFolders: '../to-all' })).toEqual([
      expect.stringContaining(
        `--data-folders ${root}/to-all (which is ${root}): expected folders without --home`,
      ),
    ]);
    mkdirSync(join(root, 'data/state'), { recursive: true });
    symlinkSync(join(root, 'data/state'), join(root, 'linked-home'));
    expect(await conflictsOf({ home: '../linked-home', dataFolders: '../data' })).toEqual([
      expect.stringContaining(`without --home ${root}/linked-home (which is ${root}/data/state)`),
    ]);
    symlinkSync(join(root, 'disk/files'), join(root, 'home/storage'));
    expect(await conflictsOf({ dataFolders: '../disk' })).toEqual([
      expect.stringContaining(`without --storage ${root}/home/storage (which is ${root}/disk/files)`),
    ]);
    expect(await conflictsOf({ dataFolders: '../disk', storage: 's3://bucket' })).toEqual([]);
    symlinkSync(join(root, 'later'), join(root, 'link-to-later'));
    expect(await conflictsOf({ home: '../link-to-later/home', dataFolders: '../later' })).toHaveLength(1);
  });

  test('missing folders whose names differ in case may be the same folder', async () => {
    expect(await conflictsOf({ home: '../Data/state', dataFolders: '../data' })).toHaveLength(1);
  });

  test('folders beside each other, or with names that begin alike, are no conflict', async () => {
    const flags = { home: '../data-home', keysFolder: '../keys', auditLog: '../audit' };
    expect(await conflictsOf({ ...flags, dataFolders: '../data:../keys-data:../audit.old' })).toEqual([]);
    expect(await conflictsOf({ ...flags, dataFolders: ':' })).toEqual([]);
  });

  test('the project folder, the default, may have them in it, and be in the home', async () => {
    const inside = { home: '.longhaul', auditLog: 'audit', keysFolder: 'keys' };
    expect(await conflictsOf(inside)).toEqual([]);
    expect(await conflictsOf({ ...inside, dataFolders: '.' })).toEqual([]);
    expect(await conflictsOf({ home: '..' })).toEqual([]);
    symlinkSync(join(root, 'project'), join(root, 'same'));
    expect(await conflictsOf({ ...inside, dataFolders: '../same' })).toEqual([]);
    expect(await conflictsOf({ ...inside, dataFolders: '.:audit' })).toHaveLength(1);
  });
});

describe('the keys folder', () => {
  let keys: string;
  let file: string;
  beforeEach(() => {
    keys = join(root, 'keys');
    const [, { id }] = addApiKey(keys, { tenant: 'acme', subject: 'alice' });
    file = join(keys, `${id}.json`);
  });
  const conflicts = (flags: Flags = {}) =>
    conflictsOf({ authentication: 'keys', keysFolder: '../keys', ...flags });

  test('as longhaul keys makes it, is accepted; so is a missing one', async () => {
    expect(await conflicts()).toEqual([]);
    chmodSync(keys, 0o755);
    expect(await conflicts()).toEqual([]);
    expect(await conflicts({ keysFolder: '../none' })).toEqual([]);
  });

  test.each([0o777, 0o775, 0o757, 0o1777])('that others can write is refused: mode %o', async (mode) => {
    chmodSync(keys, mode);
    expect(await conflicts()).toEqual([
      `--authentication keys, --keys-folder ${keys}: expected a folder that its owner alone can write, since who writes there ` +
        `can make keys; got mode ${mode.toString(8).padStart(4, '0')}. Run: chmod go-w '${keys}'`,
    ]);
    expect(await conflicts({ authentication: 'mtls,tokens' })).not.toContainEqual(
      expect.stringContaining('--keys-folder'),
    );
  });

  test.each([0o644, 0o666, 0o620, 0o604])('with a key of mode %o is refused', async (mode) => {
    chmodSync(keys, 0o755);
    chmodSync(file, mode);
    expect(await conflicts()).toEqual([expect.stringContaining(`Run: chmod 600 '${file}'`)]);
    // Others don't reach it.
    chmodSync(keys, 0o700);
    expect(await conflicts()).toEqual([]);
  });

  test('in a folder that others cannot enter is accepted with any mode', async () => {
    chmodSync(keys, 0o777);
    chmodSync(root, 0o700);
    expect(await conflicts()).toEqual([]);
  });
});

describe("the Compose file's secret", () => {
  const published = () => {
    const { 'x-longhaul': common } = parse(readText('docker-compose.temporal.yml'), { merge: true }) as {
      'x-longhaul': { environment: { LONGHAUL_SECRET: string } };
    };
    return /:-(.+)\}$/.exec(common.environment.LONGHAUL_SECRET)![1]!;
  };

  test('is refused with authentication, in each spelling, and accepted without', async () => {
    for (const secret of [published(), `${published()}=`, published().replaceAll('+', '-')]) {
      process.env['LONGHAUL_SECRET'] = secret;
      expect(await conflictsOf({ authentication: 'keys' })).toEqual([
        expect.stringMatching(/^--authentication keys: expected a LONGHAUL_SECRET of your own/),
      ]);
      expect(await conflictsOf({})).toEqual([]);
    }
    process.env['LONGHAUL_SECRET'] = Buffer.alloc(32, 7).toString('base64');
    expect(await conflictsOf({ authentication: 'keys' })).toEqual([]);
  });
});

test('a server names all conflicts at once; a worker leaves out those of servers', async () => {
  const settings = await settingsOf({
    ...{ dataFolders: '../home', host: '0.0.0.0', auditRequired: 'true' },
  });
  expect(() => assertServable(settings)).toThrow(
    /^--host 0\.0\.0\.0: .*\n--audit-required true: .*\n--data-folders .*/,
  );
  expect(() => assertWorkable(settings)).toThrow(/^--data-folders [^\n]*$/);
});

describe('processes', () => {
  let stack: TestStack;
  beforeEach(async () => {
    stack = await TestStack.shared();
  });
  afterEach(() => stack.stop());

  test.each(['up', 'server', 'worker', 'stdio'])(
    '%s refuses to start, and makes no home',
    async (command) => {
      const home = join(root, 'data/home');
      const { code, stderr } = await run(stack, [
        command,
        '--home',
        home,
        '--data-folders',
        join(root, 'data'),
      ]);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining(`expected folders without --home ${home}`),
      });
      expect(() => realpathSync(home)).toThrow('ENOENT');
    },
  );

  test('doctor lists the conflicts, and ends with 1', async () => {
    writeFileSync(join(root, 'policy.yml'), '');
    const flags = [
      '--data-folders',
      root,
      '--home',
      join(root, 'home'),
      '--policy',
      join(root, 'policy.yml'),
    ];
    const { code, stdout } = await run(stack, ['doctor', ...flags]);
    expect(stdout).toMatch(/^fail +settings +--policy: expected --authentication too/m);
    expect(stdout).toMatch(/^fail +settings +--data-folders .*expected folders without --home/m);
    expect(code).toBe(1);
  });
});
