import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { digestOf } from '../support/passed.js';
import { selectClients } from './passed.js';

let folder: string;
const before = { ...process.env };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-passed-'));
  process.env['XDG_CACHE_HOME'] = folder;
  delete process.env['LONGHAUL_FOREIGN_CLIENTS'];
});
afterEach(() => {
  process.env = { ...before };
  rmSync(folder, { recursive: true });
});

test('all clients are driven until they have passed, and then only when asked for', () => {
  const first = selectClients();
  expect(first.isWhole).toBe(true);
  first.recordPass();
  expect(selectClients().isWhole).toBe(false);
  process.env['LONGHAUL_FOREIGN_CLIENTS'] = 'all';
  expect(selectClients().isWhole).toBe(true);
});

test('the digest goes by names and contents, in subfolders as well, and by nothing that is generated', () => {
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const digests = new Set<string>();
  const changed = () => {
    const known = digests.size;
    digests.add(digestOf([folder]));
    return digests.size > known;
  };
  write('a/one.ts', '1');
  expect(changed()).toBe(true);
  write('a/one.ts', '2');
  expect(changed()).toBe(true);
  write('a/b/two.ts', '1');
  expect(changed()).toBe(true);
  write('a/node_modules/x.js', '1');
  write('a/__pycache__/x.pyc', '1');
  expect(changed()).toBe(false);
});
