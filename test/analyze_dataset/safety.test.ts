import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inspect, runQuery } from '../../activities/analyze_dataset/analysis.js';
import { fileBytes } from '../../platform/storage/data-folders.js';
import { withSession } from '../../activities/analyze_dataset/session.js';
import { refusal, sandbox } from './support.js';
import type { Sandbox } from './support.js';

let box: Sandbox;
let secret: string;
beforeAll(async () => {
  box = await sandbox();
  await box.file('plain.csv', 'a,b\n1,x\n2,y\n');
  await mkdir(path.join(box.root, 'elsewhere'));
  secret = path.join(box.root, 'elsewhere', 'secret.csv');
  await writeFile(secret, 'password\nhunter2\n');
  await symlink(secret, path.join(box.data, 'innocent.csv'));
  await symlink(path.dirname(secret), path.join(box.data, 'folder'));
});
afterAll(() => box.remove());

describe("a path of Longhaul's own within the folder", () => {
  const own = () => {
    const privatePaths = ['.longhaul', 'linked', 'a.csv'].map((name) => path.join(box.data, name));
    return { ...box.options, dataFolders: { folders: [box.data], privatePaths } };
  };
  beforeAll(async () => {
    await mkdir(path.join(box.data, '.longhaul/storage'), { recursive: true });
    await mkdir(path.join(box.data, 'state'));
    for (const name of ['.longhaul/storage/result.csv', 'state/b.csv', 'a.csv'])
      await box.file(name, 'secret\n1\n');
    // The home may be a link, and a caller's folder may have a link to it.
    await symlink(path.join(box.data, 'state'), path.join(box.data, 'linked'));
    await symlink(path.join(box.data, '.longhaul'), path.join(box.data, 'hidden'));
  });

  it.each([
    ['in the home', '.longhaul/storage/result.csv'],
    ['in the home, absolute', () => path.join(box.data, '.longhaul/storage/result.csv')],
    ['in the home, by dots', 'state/../.longhaul/storage/result.csv'],
    ['missing in the home', '.longhaul/none.csv'],
    ['a file', 'a.csv'],
    ['below a link', 'linked/b.csv'],
    ['behind the link', 'state/b.csv'],
    ['below a link of a caller', 'hidden/storage/result.csv'],
    ['a pattern in the home', '.longhaul/storage/*.csv'],
    ['a pattern below a link', 'hidden/storage/*.csv'],
  ])('%s is not allowed, and has no size', async (_, given) => {
    const spelled = typeof given === 'string' ? given : given();
    expect((await refusal(inspect(spelled, own()))).code).toBe('not_allowed');
    expect(await fileBytes(spelled, own().dataFolders)).toBeUndefined();
  });

  it('is said to be so, and matches no pattern', async () => {
    expect((await refusal(inspect('.longhaul/none.csv', own()))).message).toBe(
      `path: expected a file under ${box.data}, other than Longhaul's own (home, keys, audit log); got .longhaul/none.csv`,
    );
    const { size } = await stat(path.join(box.data, 'plain.csv'));
    expect(await fileBytes('[ap]*.csv', own().dataFolders)).toBe(size);
    expect(await fileBytes('*/b.csv', own().dataFolders)).toBeUndefined();
    expect((await refusal(inspect('.*/storage/*.csv', own()))).code).toBe('not_found');
  });
});

describe('a path', () => {
  it.each([
    ['outside', () => secret],
    ['outside by dots', () => `${box.data}/../elsewhere/secret.csv`],
    ['outside by dots, relative', () => '../elsewhere/secret.csv'],
    ['a symbolic link to outside', () => 'innocent.csv'],
    ['below a symbolic link to outside', () => 'folder/secret.csv'],
    ['a pattern that matches a symbolic link to outside', () => 'inno*.csv'],
    ['a pattern below a symbolic link to outside', () => 'folder/*.csv'],
    ['a pattern outside by dots', () => '../elsewhere/*.csv'],
    ['a pattern outside by dots within it', () => '*/../../elsewhere/*.csv'],
    ['an absolute pattern outside', () => '/etc/*.csv'],
    ['a URL', () => 'https://localhost/x.csv'],
    ['a bucket', () => 's3://bucket/x.parquet'],
    ['a file URL', () => `file://${box.data}/plain.csv`],
    ['outside and missing (nobody learns which)', () => '/nowhere/at/all.csv'],
    ['with a NUL', () => 'plain.csv\0.txt'],
    ['the folder itself', () => box.data],
  ])('%s is not allowed, and has no size', async (_, given) => {
    expect((await refusal(inspect(given(), box.options))).code).toBe('not_allowed');
    expect(await fileBytes(given(), box.options.dataFolders)).toBeUndefined();
  });

  it.each([
    ['that leads nowhere', 'missing.csv', 'not_found'],
    ['that is a pattern without a match', 'none-*.csv', 'not_found'],
    ['of another format', 'notes.txt', 'unsupported_format'],
    ['of a folder', 'sub.csv', 'unreadable'],
    ['of an empty file', 'empty.csv', 'unreadable'],
    ['of a broken Parquet file', 'broken.parquet', 'unreadable'],
    ['of broken JSON', 'broken.json', 'unreadable'],
  ])('%s is refused as it should be', async (_, given, code) => {
    await Promise.all([
      box.file('notes.txt', 'x'),
      mkdir(path.join(box.data, 'sub.csv'), { recursive: true }),
      box.file('empty.csv', ''),
      box.file('broken.parquet', 'PAR1 this is no Parquet file PAR1'),
      box.file('broken.json', '{"a":1}\n{"a":'),
    ]);
    const refused = await refusal(inspect(given, box.options));
    expect(refused.code).toBe(code);
    expect(refused.message).toContain(given);
    expect(refused.message).not.toMatch(/LINE 1|SELECT|sample_size/);
  });
});

it('a message has a bounded length, whatever the names in the file', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `${index}${'x'.repeat(1000)}`);
  await box.file('names.json', JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))));
  const query = { path: 'names.json', group_by: ['other'], limit: 1 };
  const { code, message } = await refusal(runQuery(query, box.options));
  expect(code).toBe('unknown_column');
  expect(message).toMatch(/^group_by\[0\]: expected one of the columns "0x+…x+".*; got "other"$/);
  expect(message.length).toBeLessThanOrEqual(2001);
});

/** Parquet of one integer in 256 structs in each other, made with pyarrow; gzip, base64. */
const STRUCTS =
  'H4sIAAAAAAACA+2Xv0oDQRDGvxmP5dDmIpnlFra4whwRkmCEkxRp7C2Cb3AJB7HQnBf/1Oa5xNJHEgsL55BgY2N9OwPzG2bY5mOLbxaX11OJJJH+lbDgGIg94ScE0pd0pPNEjBifxvvNb2cx/GPa62k5PDnQykTEkMh97bhAarardXVbCqPglPZcBgYGBgYGBnaCEg3aDpaddz6HV49QwCTu84WppGXILqewZftG9p3yWR7/z3q6kTpatF8M6lwZ81PjPnaMrkerQKsp57HqimFWl839Y/UwXtX1uGyazXP2VDXbm81ddn4xOZtMnff65PUIWOiZ8A3GIzgUKwwAAA==';

it('a file at which DuckDB fails by an assertion is unreadable', async () => {
  const { gunzipSync } = await import('node:zlib');
  await box.file('structs.parquet', gunzipSync(Buffer.from(STRUCTS, 'base64')));
  const { code, message } = await refusal(runQuery({ path: 'structs.parquet', limit: 1 }, box.options));
  expect(code).toBe('unreadable');
  expect(message).toMatch(
    /^path: expected data that DuckDB can read; structs\.parquet makes it fail \(INTERNAL Error: [^\n]*\)$/,
  );
});

describe('what a caller sends never becomes SQL', () => {
  it('as the name of a column, an aggregate or a value', async () => {
    const nasty = `x"; COPY (SELECT 1) TO '${box.root}/owned.csv'; --`;
    await box.file('nasty.json', JSON.stringify([{ [nasty]: "1'; DROP TABLE x; --", n: 1 }]));
    const filters = [{ column: nasty, op: 'eq' as const, value: "1'; DROP TABLE x; --" }];
    const result = await runQuery(
      {
        path: 'nasty.json',
        filters,
        group_by: [nasty],
        aggregates: [{ fn: 'sum', column: 'n', as: `") , (SELECT * FROM read_csv('${secret}')` }],
        order_by: [{ column: nasty }],
        limit: 5,
      },
      box.options,
    );
    expect(result.rows).toEqual([["1'; DROP TABLE x; --", 1]]);
    expect(await readdir(box.root)).not.toContain('owned.csv');
    const unknown = await refusal(
      runQuery({ path: 'plain.csv', group_by: ['a) UNION SELECT 1 --'], limit: 1 }, box.options),
    );
    expect(unknown.code).toBe('unknown_column');
  });

  it('and the engine behind it reaches nothing but the one file', async () => {
    const read = path.join(box.data, 'plain.csv');
    await withSession([read], box.options, async (session) => {
      const refused = [
        `SELECT * FROM read_csv('${secret}')`,
        `SELECT * FROM read_csv('${box.data}/*.csv')`,
        `SELECT * FROM read_text('/etc/hostname')`,
        `SELECT * FROM glob('/etc/*')`,
        `SELECT * FROM read_csv('http://localhost:9/x.csv')`,
        `COPY (SELECT 1) TO '${box.root}/owned.csv'`,
        `COPY (SELECT 1) TO '${read}.copy'`,
        `ATTACH '${box.root}/owned.db'`,
        'INSTALL httpfs',
        'LOAD httpfs',
        'SET enable_external_access = true',
        `SET allowed_directories = ['/']`,
        `SET memory_limit = '100GB'`,
      ];
      for (const sql of refused) await expect(session.run(sql)).rejects.toBeDefined();
      expect(
        (await session.run(`SELECT count(*) FROM read_csv('${session.readPaths[0]}')`)).value(0, 0),
      ).toBe(2n);
    });
    expect(await readdir(box.root)).not.toContain('owned.csv');
  });
});
