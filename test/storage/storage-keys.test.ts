/** Keys of storage, for any token and any name. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { childPaths, operationFolder, workspacesFolder } from '../../worker/steps/layout.js';
import { encodeFileName, decodeFileName } from '../../platform/home/file-name.js';
import { artifactKey, operationNameIn, prefixesOf } from '../../platform/storage/keys.js';
import { folderStorage } from '../../platform/storage/index.js';
import { temporaryFolder } from '../support/for-all-tests.js';

const root = temporaryFolder('keys');

const ARN = 'arn:aws:states:us-east-1:123456789012:execution:Machine:run/1+a=b@c,d';
const LONG = `${'x'.repeat(150)}:/${'y'.repeat(60)}`;
const HASHED = encodeFileName(LONG);
const NAMES = [
  'b63d7a1d66f10126687f3170f91758e0',
  ARN,
  '.',
  '..',
  '...',
  '../..',
  'a/../../b',
  '%2E%2E',
  LONG,
  HASHED,
  'x.6f2c9c1e-0000-4000-8000-000000000000.tmp',
  'é\u0000\\',
];

describe('a name in a key', () => {
  test('is one part of a path, differs from all others, and gives the text back', () => {
    const names = NAMES.map(encodeFileName);
    expect(new Set(names).size).toBe(NAMES.length);
    for (const [index, name] of names.entries()) {
      expect(name).toMatch(/^[A-Za-z0-9_.!~*'()%-]{1,200}$/);
      expect(['.', '..']).not.toContain(name);
      const origin = decodeFileName(name);
      if (name === HASHED) expect(LONG.startsWith((origin as any).beginning)).toBe(true);
      else expect(origin).toEqual({ text: NAMES[index] });
    }
  });

  test('of what was stored before is the same as it was', () => {
    for (const name of ['b63d7a1d66f10126687f3170f91758e0', 'a.b_c~d-e', '...', 'x.tmp'])
      expect(encodeFileName(name)).toBe(name);
    expect(encodeFileName('site/index.html')).toBe('site%2Findex.html');
    expect(encodeFileName('z'.repeat(300))).toMatch(/^z{100}~[0-9a-f]{32}$/);
  });

  test('cut within a character still gives the beginning', () => {
    for (const prefix of ['', 'a', 'ab', 'abc'])
      expect(decodeFileName(encodeFileName(prefix + '😀'.repeat(60)))).toEqual({
        beginning: expect.stringMatching(/^[abc]*(😀)+$/u),
      });
  });

  test('that this code did not make has no text', () => {
    expect(decodeFileName('%zz')).toBeUndefined();
  });
});

test('values of any workflow and of any name are stored, read, listed and removed within their prefix', async () => {
  const storage = folderStorage(mkdtempSync(join(root, 'storage-')));
  const expected: string[] = [];
  for (const workflowId of NAMES)
    for (const name of NAMES) {
      const key = artifactKey(workflowId, name);
      await storage.put(key, Buffer.from(`${workflowId}\n${name}`));
      expected.push(key);
    }
  const listed: string[] = [];
  for await (const { key } of storage.list('artifacts/')) listed.push(key);
  expect(listed.sort()).toEqual(expected.sort());
  for (const workflowId of NAMES) {
    const own: string[] = [];
    for await (const { key } of storage.list(prefixesOf(workflowId)[0])) own.push(key);
    expect(own).toHaveLength(NAMES.length);
    for (const key of own) {
      expect(operationNameIn(key)).toBe(encodeFileName(workflowId));
      expect((await storage.read(key)).toString().split('\n')[0]).toBe(workflowId);
      await storage.remove(key);
    }
  }
  for await (const { key } of storage.list()) throw new Error(`left: ${key}`);
});

test.each(['', '.', '..', 'artifacts/../x', 'artifacts//x', 'artifacts/./x', '/x', '../x', 'artifacts/..'])(
  'a key %j is refused',
  async (key) => {
    const storage = folderStorage(mkdtempSync(join(root, 'storage-')));
    await expect(storage.put(key, Buffer.from('x'))).rejects.toThrow('storage key leaves its folder');
  },
);

test('the workspace of any token lies in the folder of workspaces', () => {
  const folders = NAMES.map((workflowId) => operationFolder('/home', workflowId));
  expect(new Set(folders).size).toBe(NAMES.length);
  for (const [index, folder] of folders.entries()) {
    expect(join(folder, '..')).toBe(workspacesFolder('/home'));
    const { workspace } = childPaths('/home', NAMES[index]!, { job: '..' });
    expect(workspace.startsWith(`${folder}/`)).toBe(true);
  }
});

test('values are stored while others are removed from the same folder, with the folders that this leaves empty', async () => {
  const root = temporaryFolder('storage');
  const storage = folderStorage(root);
  const store = [
    (key: string) => storage.put(key, Buffer.from('put')),
    (key: string) => storage.create(key, Buffer.from('created')),
    (key: string) => {
      const file = join(root, `${key.replaceAll('/', '-')}.file`);
      writeFileSync(file, 'moved');
      return storage.putFile(key, file);
    },
  ];
  const turns = store.map(async (storeOne, writer) => {
    for (let turn = 0; turn < 300; turn += 1) {
      const key = `logs/one/${writer}`;
      await storeOne(key);
      expect(await storage.size(key)).toBeGreaterThan(0);
      await storage.remove(key);
    }
  });
  const failures = (await Promise.allSettled(turns)).filter(({ status }) => status === 'rejected');
  expect(failures).toEqual([]);
});
